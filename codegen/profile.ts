/** What a queue's schema may not say, because no type could agree with it. Each refusal names its place. */

import { dialectOf } from "./dialect.js";
import type { Place, SchemaFile } from "./load.js";
import { childPointer } from "./pointer.js";
import { profileRules } from "./profile-rules.js";
import type { Finding, Report } from "./report.js";
import type { Dialect } from "./schema.js";
import { isSchemaObject, type Role, type SchemaObject, subschemas } from "./schema.js";

/** A schema that a rule looks at. */
export interface Visit {
  readonly schema: SchemaObject;
  readonly place: Place;
  readonly dialect: Dialect;
  readonly role: Role | "root";
  /** The JSON types that the schemas around it leave for the same value. */
  readonly types: readonly string[] | undefined;
  readonly files: ReadonlyMap<string, SchemaFile>;
  /** Reports at a keyword of the schema, or at a member of it. */
  refuse(at: string | readonly (string | number)[], finding: Finding): void;
}

/** Walks every schema of a file and applies every rule. */
export function checkProfile(file: SchemaFile, files: ReadonlyMap<string, SchemaFile>, report: Report): void {
  if (!isSchemaObject(file.json.value)) return;
  const dialect = dialectOf(file);
  const visit = (schema: unknown, pointer: string, role: Visit["role"], types: Visit["types"]): void => {
    if (!isSchemaObject(schema)) return;
    const own = typeof schema.type === "string" ? [schema.type] : (schema.type as string[] | undefined);
    const refuse: Visit["refuse"] = (at, finding) => {
      const path = typeof at === "string" ? [at] : at;
      report.add({ file, pointer: path.reduce<string>(childPointer, pointer) }, finding);
    };
    const context = own ?? types;
    for (const rule of profileRules) {
      rule({ schema, place: { file, pointer }, dialect, role, types: context, files, refuse });
    }
    for (const sub of subschemas(schema, pointer)) {
      // A test of the same value (`if`, `not`) inherits the types as a branch does.
      const same = sub.role === "same" || sub.keyword === "if" || sub.keyword === "not";
      visit(sub.schema, sub.pointer, sub.role, same ? context : undefined);
    }
  };
  visit(file.json.value, "", "root", undefined);
}
