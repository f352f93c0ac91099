/**
 * A document's examples as a project: its schema blocks (```json schemas/name.json) are generated from, its ```ts blocks are
 * modules beside the result. It lies inside the repository, where the name `postrider` leads to the sources.
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generate } from "../../codegen/generate.js";
import { type CodeBlock, codeBlocks } from "./code-blocks.js";

const root = join(import.meta.dirname, "..", "..");

/** A ```ts block, written as a file. */
export interface Example {
  /** Where it stands: `README.md:54`. */
  readonly place: string;
  readonly file: string;
  readonly text: string;
  /** `run`: ends by itself. `run worker`: handles messages until a signal. Else it is only type-checked. */
  readonly remark: string;
}

/** @param document - path from the root */
export async function exampleProject(document: string): Promise<readonly Example[]> {
  const blocks = codeBlocks(await readFile(join(root, document), "utf8"));
  const sources = blocks.filter(({ language }) => language === "ts");
  if (sources.length === 0) return [];
  const project = join(root, ".postrider", "examples", document.replaceAll(/[^A-Za-z0-9]+/g, "-"));
  await rm(project, { recursive: true, force: true });
  await writeSchemas(project, blocks);
  return await Promise.all(
    sources.map(async ({ text, line, remark }) => {
      const file = join(project, `line-${line}.ts`);
      await writeFile(file, text);
      return { place: `${document}:${line}`, file, text, remark };
    }),
  );
}

async function writeSchemas(project: string, blocks: readonly CodeBlock[]): Promise<void> {
  const schemas = blocks.filter(({ language, remark }) => language === "json" && remark.startsWith("schemas/"));
  await mkdir(join(project, "schemas"), { recursive: true });
  for (const { remark, text } of schemas) {
    await mkdir(dirname(join(project, remark)), { recursive: true });
    await writeFile(join(project, remark), text);
  }
  // A document that declares no queue of its own speaks of the repository's.
  await generate({ cwd: project, ...(schemas.length > 0 ? {} : { schemas: join(root, "schemas") }) });
}
