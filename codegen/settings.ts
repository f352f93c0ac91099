/** `x-queue`: a queue's settings, with the defaults of its folders below them. */
import { posix } from "node:path";
import { resolveQueueOptions } from "../src/queue/options.js";
import type { QueueSettings } from "../src/queue/queue.js";
import type { Place, SchemaFile } from "./load.js";
import { childPointer } from "./pointer.js";
import type { Report } from "./report.js";
import { isSchemaObject, type SchemaObject } from "./schema.js";

/** What `x-queue` says: names, and settings with every default filled in. */
export interface QueueOptions {
  readonly name?: string;
  readonly identifier?: string;
  readonly settings: QueueSettings;
}

/** Where the settings of a queue stand, for messages and for the editor. */
export const settingsPointer = "/x-queue";

/** Reads a queue's settings; `undefined` when they are refused. */
export function readQueueOptions(
  file: SchemaFile,
  files: ReadonlyMap<string, SchemaFile>,
  report: Report,
): QueueOptions | undefined {
  const own = isSchemaObject(file.json.value) ? file.json.value["x-queue"] : undefined;
  if (own !== undefined && !isSchemaObject(own)) {
    report.add({ file, pointer: settingsPointer }, { rule: "x-queue", message: "x-queue must be an object" });
    return undefined;
  }
  const written = { ...folderDefaults(file, files), ...own };
  const resolved = resolveQueueOptions(written);
  for (const problem of resolved.problems) {
    const place = placeOfSetting(file, files, problem.pointer);
    report.add(place, { rule: "x-queue", message: problem.message });
  }
  if (resolved.settings === undefined) return undefined;
  const { name, identifier } = (own ?? {}) as { name?: string; identifier?: string };
  return {
    ...(name === undefined ? {} : { name }),
    ...(identifier === undefined ? {} : { identifier }),
    settings: resolved.settings,
  };
}

// The nearest folder wins, setting by setting.
function folderDefaults(file: SchemaFile, files: ReadonlyMap<string, SchemaFile>): SchemaObject {
  let merged: SchemaObject = {};
  for (const defaults of defaultsFiles(file, files)) {
    if (isSchemaObject(defaults.json.value)) merged = { ...merged, ...defaults.json.value };
  }
  return merged;
}

/** The `_defaults.json` files that speak for a file, outermost first. */
export function defaultsFiles(file: SchemaFile, files: ReadonlyMap<string, SchemaFile>): SchemaFile[] {
  const segments = posix.dirname(file.path).split("/");
  const folders = ["", ...segments.map((_, index) => `${segments.slice(0, index + 1).join("/")}/`)];
  return folders.flatMap((folder) => files.get(folder === "./" ? "" : `${folder}_defaults.json`) ?? []);
}

/** Where a setting stands: what the queue does not write itself came from a folder, and that is the line to show. */
export function placeOfSetting(file: SchemaFile, files: ReadonlyMap<string, SchemaFile>, pointer: string): Place {
  const key = pointer.split("/")[1];
  const own = isSchemaObject(file.json.value) ? file.json.value["x-queue"] : undefined;
  if (key === undefined || (isSchemaObject(own) && key in own)) return { file, pointer: settingsPointer + pointer };
  const source = defaultsFiles(file, files).findLast((defaults) => {
    const { value } = defaults.json;
    return isSchemaObject(value) && key in value;
  });
  return source === undefined
    ? { file, pointer: settingsPointer }
    : { file: source, pointer: childPointer("", key) + pointer.slice(key.length + 1) };
}
