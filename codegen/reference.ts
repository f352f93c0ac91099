/** `$ref`: relative paths inside the schema folder and JSON Pointers, nothing else. */
import { posix } from "node:path";
import type { Place, SchemaFile } from "./load.js";
import { valueAt } from "./pointer.js";
import type { Finding } from "./report.js";

/** Where a reference leads, or why it leads nowhere. */
export type Resolved =
  | { readonly target: Place; readonly fault?: undefined }
  | { readonly target?: undefined; readonly fault: Finding };

/** Resolves a `$ref` that stands in `from`. Reads no disk and no network: only files that were loaded. */
export function resolveReference(ref: string, from: SchemaFile, files: ReadonlyMap<string, SchemaFile>): Resolved {
  const hash = ref.indexOf("#");
  const path = hash < 0 ? ref : ref.slice(0, hash);
  const fragment = hash < 0 ? "" : ref.slice(hash + 1);
  const quoted = JSON.stringify(ref);
  if (/^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith("/") || path.includes("\\")) {
    return refuse(
      "relative-ref",
      `$ref must be a relative path or #/…, got ${quoted}`,
      "nothing is fetched; copy the schema into the folder",
    );
  }
  if (fragment !== "" && !fragment.startsWith("/")) {
    return refuse(
      "refused-keyword",
      `$ref to the anchor ${quoted}`,
      "write the JSON Pointer of the definition: #/$defs/…",
    );
  }
  const file = path === "" ? from : files.get(posix.normalize(posix.join(posix.dirname(from.path), decoded(path))));
  if (file === undefined)
    return refuse("ref-missing", `${quoted} is no file of the schema folder`, escapeHint(path, from));
  const pointer = decoded(fragment);
  if (pointer !== "" && valueAt(file.json.value, pointer) === undefined) {
    return refuse("ref-missing", `${quoted}: ${file.display} holds nothing there`);
  }
  return { target: { file, pointer } };
}

function escapeHint(path: string, from: SchemaFile): string | undefined {
  const joined = posix.normalize(posix.join(posix.dirname(from.path), path));
  return joined.startsWith("..") ? "references must not leave the schema folder" : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refuse(rule: string, message: string, hint?: string): Resolved {
  return { fault: hint === undefined ? { rule, message } : { rule, message, hint } };
}
