/** An error as one line for people: its code, what happened, and what to do about it. */
import { errorTable, PostriderError } from "../errors.js";

/** What a command line has other words for than a program. */
const adviceHere: Partial<Record<string, string>> = {
  ERR_NO_DATABASE: "set DATABASE_URL, or say --database-url <url>, or --embedded where the command has it",
};

/** One line without a stack. An error of postrider ends with the advice of the error table. */
export function errorLine(error: unknown): string {
  if (error instanceof PostriderError) {
    const said = oneLine(error.message);
    const advice = adviceHere[error.code] ?? errorTable[error.code].advice;
    const end = /[?!]$/.test(said) ? "" : ".";
    return `${error.code}: ${said}${said.includes(advice) ? "" : `${end} What to do: ${advice}`}`;
  }
  if (!(error instanceof Error)) return `error: ${oneLine(String(error))}`;
  // A host with two addresses fails with both failures and no message of its own.
  const message =
    error instanceof AggregateError && error.message === "" ? error.errors.map(text).join("; ") : text(error);
  const { code } = error as { code?: unknown };
  const missing = code === "ERR_MODULE_NOT_FOUND" ? /Cannot find package '([^']+)'/.exec(message)?.[1] : undefined;
  if (missing !== undefined) {
    return `${code}: this command needs the package ${missing}. What to do: npm install --save-dev ${neededWith(missing)}`;
  }
  const isNamed = typeof code === "string" && !message.includes(code);
  return `${isNamed ? `${code}: ` : "error: "}${oneLine(message)}`;
}

// The packages of codegen are optional, because a production install does not generate.
function neededWith(missing: string): string {
  const ofCodegen = ["ts-morph", "json-schema-to-typescript", "redos-detector"];
  return ofCodegen.includes(missing) ? ofCodegen.join(" ") : missing;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function oneLine(message: string): string {
  return message
    .trim()
    .replace(/\.$/, "")
    .replace(/\s*\n\s*/g, "; ");
}
