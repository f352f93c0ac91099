/** The names of types inside one schema file: the message, its definitions, and objects written in place. */
import type { Place, SchemaFile } from "./load.js";
import { digitSafe, pascalName } from "./names.js";
import { pointerParts } from "./pointer.js";
import type { Report } from "./report.js";
import type { NamedShape } from "./shape/shape.js";

/** Segments that say how a schema is built, not what it means. */
const silentSegments: ReadonlySet<string> = new Set([
  ...["$defs", "definitions", "properties", "patternProperties", "additionalProperties", "dependentSchemas"],
  ...["allOf", "anyOf", "oneOf", "prefixItems", "then", "else"],
]);

/** The type name of every definition, by definition. */
export function typeNames(of: {
  definitions: readonly NamedShape[];
  queueTypes: ReadonlyMap<SchemaFile, string>;
  report: Report;
}): ReadonlyMap<NamedShape, string> {
  const names = new Map<NamedShape, string>();
  const owners = new Map<string, Place>();
  for (const definition of of.definitions) {
    const { file, pointer } = definition.place;
    const name = (of.queueTypes.get(file) ?? sharedTypeName(file)) + pointerName(pointer);
    const owner = owners.get(`${file.path}\n${name}`);
    if (owner !== undefined) {
      const message = `two definitions of this file become the type ${name}`;
      of.report.add(definition.place, { rule: "type-name", message, hint: "rename one of them" });
    }
    owners.set(`${file.path}\n${name}`, definition.place);
    names.set(definition, name);
  }
  return names;
}

// `_shared/geo/point.json` -> `GeoPoint`: the folder that marks definitions as shared says nothing about them.
function sharedTypeName(file: SchemaFile): string {
  const segments = file.path.replace(/\.json$/, "").split("/");
  const last = segments.pop() ?? "";
  const kept = [...segments.filter((segment) => !segment.startsWith("_")), last];
  return digitSafe(kept.map(wordName).join(""));
}

function pointerName(pointer: string): string {
  return pointerParts(pointer)
    .filter((part) => !silentSegments.has(part))
    .map((part) => (part === "items" ? "Item" : wordName(part)))
    .join("");
}

/** A key as part of a type name; keys without a letter are spelt by their code points. */
export function wordName(key: string): string {
  return (
    pascalName(key) || [...key].map((char) => `U${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}`).join("")
  );
}
