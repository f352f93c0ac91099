/** A throw-away project folder with schema files. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";

/** A folder below the system's temporary folder; removed by `remove`. */
export interface TestProject {
  readonly cwd: string;
  write(files: Readonly<Record<string, unknown>>): Promise<void>;
  /** Every file below a folder, by path. */
  read(folder: string): Promise<Map<string, string>>;
  remove(): Promise<void>;
}

/** Makes a project from schemas (objects are written as JSON) or texts, by path below `schemas/`. */
export async function testProject(schemas: Readonly<Record<string, unknown>> = {}): Promise<TestProject> {
  const cwd = await mkdtemp(join(tmpdir(), "postrider-codegen-"));
  const project: TestProject = {
    cwd,
    async write(files) {
      for (const [path, content] of Object.entries(files)) {
        const target = join(cwd, "schemas", path);
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, typeof content === "string" ? content : JSON.stringify(content, null, 2));
      }
    },
    async read(folder) {
      const entries = await readdir(join(cwd, folder), { recursive: true, withFileTypes: true });
      const files = new Map<string, string>();
      for (const entry of entries.filter((candidate) => candidate.isFile())) {
        const path = join(entry.parentPath, entry.name);
        files.set(relative(join(cwd, folder), path).split(sep).join("/"), await readFile(path, "utf8"));
      }
      return files;
    },
    remove: () => rm(cwd, { recursive: true, force: true }),
  };
  await mkdir(join(cwd, "schemas"));
  await project.write(schemas);
  return project;
}

/** The smallest schema that is worth a queue. */
export const idSchema = {
  type: "object",
  properties: { id: { type: "string" } },
  required: ["id"],
  additionalProperties: false,
};
