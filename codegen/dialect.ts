/** Which draft a file is written in, and whether it is a schema of that draft at all. */
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { SchemaFile } from "./load.js";
import type { Report } from "./report.js";
import { type Dialect, isSchemaObject } from "./schema.js";

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["http://json-schema.org/draft-07/schema", "draft-07"],
  ["https://json-schema.org/draft-07/schema", "draft-07"],
]);

/** The dialect of a file: its `$schema`, 2020-12 when it names none. */
export function dialectOf(file: SchemaFile): Dialect {
  return declaredDialect(file) ?? "2020-12";
}

/** Checks every file against the metaschema of its dialect. */
export function checkDialects(files: readonly SchemaFile[], report: Report): void {
  const options = { strict: false, allErrors: true, validateFormats: false } as const;
  const ajvs = { "2020-12": new Ajv2020(options), "draft-07": new Ajv(options) };
  for (const file of files) {
    if (!isSchemaObject(file.json.value)) {
      report.add({ file, pointer: "" }, { rule: "root-object", message: "a schema file must hold a JSON object" });
      continue;
    }
    if (declaredDialect(file) === undefined && file.json.value.$schema !== undefined) {
      report.add(
        { file, pointer: "/$schema" },
        {
          rule: "dialect",
          message: "$schema must be draft 2020-12 or draft-07",
          hint: [...dialects.keys()].slice(0, 2).join(" or "),
        },
      );
      continue;
    }
    checkMetaschema(file, ajvs[dialectOf(file)], report);
  }
}

function checkMetaschema(file: SchemaFile, ajv: Ajv, report: Report): void {
  // `$schema` is judged above; ajv would look for its own spelling of it.
  const { $schema: _, ...schema } = file.json.value as Record<string, unknown>;
  if (ajv.validateSchema(schema) === true) return;
  for (const error of ajv.errors ?? []) {
    if (error.keyword === "anyOf" || error.keyword === "if") continue;
    const key = error.instancePath.slice(error.instancePath.lastIndexOf("/") + 1) || "the schema";
    report.add(
      { file, pointer: error.instancePath },
      { rule: "metaschema", message: `${key} ${error.message ?? "is not allowed here"}` },
    );
  }
}

function declaredDialect(file: SchemaFile): Dialect | undefined {
  if (!isSchemaObject(file.json.value)) return undefined;
  const { $schema } = file.json.value;
  return typeof $schema === "string" ? dialects.get($schema.replace(/#$/, "")) : undefined;
}
