/** `npm run migrate:build`: rewrites the first committed migration from its sources, until it is released. */
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { assembleParts, committedText } from "./assemble.js";

const root = import.meta.dirname;
const target = join(root, "committed", "000001.sql");
const parts = await assembleParts(root);

if (!parts.some(({ name }) => name.startsWith("001-"))) {
  throw new Error(
    "migrations/current/001-*.sql is gone: the first migration is released, and only graphile-migrate commits",
  );
}

await mkdir(join(root, "committed"), { recursive: true });
await rm(target, { force: true });
await writeFile(target, committedText(parts));
await chmod(target, 0o644);
process.stdout.write(`${relative(process.cwd(), target)}: ${parts.length} parts\n`);
