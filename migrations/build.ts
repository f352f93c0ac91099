/** `npm run migrate:build`: rewrites the first committed migration from its sources, until it is released. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { assembleParts, committedText, isFirstPending } from "./assemble.js";

const root = import.meta.dirname;
const target = join(root, "committed", "000001.sql");

if (await isFirstPending(root)) {
  const parts = await assembleParts(root);
  await mkdir(join(root, "committed"), { recursive: true });
  // graphile-migrate leaves its files read-only.
  await rm(target, { force: true });
  await writeFile(target, committedText(parts));
  process.stdout.write(`${relative(process.cwd(), target)}: ${parts.length} parts\n`);
} else {
  process.stdout.write(
    "the first migration is released: graphile-migrate commits what is in current/, nothing to assemble\n",
  );
}
