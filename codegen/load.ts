/** Reads the schema folder: every `.json` file below it, with positions. Nothing outside the folder is ever opened. */
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type JsonText, parseJsonText } from "./json-text.js";
import { compareText, type Problem } from "./problem.js";

/** A schema is prose about one message; anything larger is data in the wrong folder. */
const maxFileBytes = 1_048_576;

/** One file of the schema folder. */
export interface SchemaFile {
  /** Below the schema folder, with forward slashes: `user/created.json`. Identifies the file. */
  readonly path: string;
  /** For texts: the folder's name and the path. */
  readonly display: string;
  /** `queue`: a queue's message. `shared`: definitions. `settings`: `x-queue` defaults of a folder, or the ignore list. */
  readonly role: "queue" | "shared" | "settings";
  readonly text: string;
  readonly json: JsonText;
}

/** A place in a schema file. */
export interface Place {
  readonly file: SchemaFile;
  readonly pointer: string;
}

/** The files by path, in order of path, and what was wrong with reading them. */
export interface LoadedSchemas {
  readonly files: ReadonlyMap<string, SchemaFile>;
  readonly problems: readonly Problem[];
}

/** Reads every schema file below a folder. `display` is the folder's name in messages. */
export async function loadSchemas(folder: { directory: string; display: string }): Promise<LoadedSchemas> {
  const problems: Problem[] = [];
  const root = await realpath(folder.directory).catch(() => undefined);
  if (root === undefined) {
    problems.push(problemAt(folder.display, "no-schemas", "there is no such folder"));
    return { files: new Map(), problems };
  }
  const paths = await schemaPaths(root, folder.display, problems);
  const loaded = await Promise.all(paths.map((path) => loadFile({ root, path, display: folder.display, problems })));
  const files = new Map<string, SchemaFile>();
  for (const file of loaded) if (file !== undefined) files.set(file.path, file);
  return { files, problems };
}

/** Schemas from texts by path, without a disk: for the compatibility gate and for tests. */
export function schemasFromTexts(texts: ReadonlyMap<string, string>, display: string): LoadedSchemas {
  const problems: Problem[] = [];
  const files = new Map<string, SchemaFile>();
  for (const path of [...texts.keys()].sort(compareText)) {
    const loaded = schemaFile({ path, text: texts.get(path) ?? "", display });
    problems.push(...loaded.problems);
    if (loaded.file.json.value !== undefined) files.set(path, loaded.file);
  }
  return { files, problems };
}

function schemaFile(source: { path: string; text: string; display: string }): {
  file: SchemaFile;
  problems: readonly Problem[];
} {
  const { path } = source;
  // A byte order mark is an editor's habit, not a mistake about the schema.
  const text = source.text.startsWith("\uFEFF") ? source.text.slice(1) : source.text;
  const json = parseJsonText(text);
  const display = source.display === "" ? path : `${source.display}/${path}`;
  const file: SchemaFile = { path, display, role: roleOf(path), text, json };
  return { file, problems: json.faults.map((fault) => ({ severity: "error", file: display, ...fault })) };
}

async function schemaPaths(root: string, display: string, problems: Problem[]): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths: string[] = [];
  for (const entry of entries) {
    const absolute = join(entry.parentPath, entry.name);
    const path = relative(root, absolute).split(sep).join("/");
    if (entry.isSymbolicLink() && !(await leadsToFileInside(absolute, root))) {
      problems.push(
        problemAt(`${display}/${path}`, "symlink", "this link leads out of the schema folder, or to a folder"),
      );
      continue;
    }
    if (!entry.isDirectory() && entry.name.endsWith(".json")) paths.push(path);
  }
  return paths.sort(compareText);
}

async function leadsToFileInside(link: string, root: string): Promise<boolean> {
  const target = await realpath(link).catch(() => undefined);
  if (target === undefined || !target.startsWith(root + sep)) return false;
  return (await lstat(target)).isFile();
}

async function loadFile(source: {
  root: string;
  path: string;
  display: string;
  problems: Problem[];
}): Promise<SchemaFile | undefined> {
  const { root, path, problems } = source;
  const absolute = join(root, path);
  const { size } = await lstat(await realpath(absolute));
  if (size > maxFileBytes) {
    problems.push(
      problemAt(`${source.display}/${path}`, "file-size", `${size} bytes; a schema file has at most ${maxFileBytes}`),
    );
    return undefined;
  }
  const loaded = schemaFile({ path, text: await readFile(absolute, "utf8"), display: source.display });
  problems.push(...loaded.problems);
  // With a syntax error there is no value to look at; with a doubled key there is.
  return loaded.file.json.value === undefined ? undefined : loaded.file;
}

function roleOf(path: string): SchemaFile["role"] {
  const segments = path.split("/");
  if (segments.at(-1) === "_defaults.json" || path === "_compat.json") return "settings";
  return segments.some((segment) => segment.startsWith("_")) ? "shared" : "queue";
}

function problemAt(file: string, rule: string, message: string): Problem {
  return { severity: "error", file, line: 1, column: 1, rule, message };
}
