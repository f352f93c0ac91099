/** `docs/errors.md`, printed from the error table. */
import { errorTable } from "../src/errors.js";

/** The page's text. */
export function errorsPage(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { when, advice, retry }]) => `| \`${code}\` | ${when} | ${advice} | ${retry ? "yes" : "no"} |`,
  );
  return `# Errors

Every error is a \`PostriderError\`: \`code\` is stable, \`message\` names the value and the place, \`details\` holds both as fields, \`cause\` what
lay beneath. Printed from \`src/errors.ts\` by \`npm run docs\`.

| code | when | what to do | may the same call succeed later? |
|---|---|---|---|
${rows.join("\n")}
`;
}
