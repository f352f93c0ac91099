/** `_compat.json`: findings that a team has looked at and accepts, each with a reason and an end. */
import { Ajv } from "ajv";
import type { SchemaFile } from "../load.js";
import type { Report } from "../report.js";

/** One accepted finding. */
export interface IgnoreEntry {
  readonly queue: string;
  readonly rule: string;
  /** Only at this place of the message; absent: anywhere. */
  readonly pointer?: string;
  readonly reason: string;
  /** The last day on which it counts, `YYYY-MM-DD`. */
  readonly until: string;
}

/** The file's name, at the top of the schema folder. */
export const ignoreFileName = "_compat.json";

const ignoreSchema = {
  type: "object",
  additionalProperties: false,
  required: ["ignore"],
  properties: {
    ignore: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["queue", "rule", "reason", "until"],
        properties: {
          queue: { type: "string", minLength: 1 },
          rule: { type: "string", minLength: 1 },
          pointer: { type: "string", pattern: "^(/[^/]*)*$" },
          reason: { type: "string", minLength: 1 },
          until: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
        },
      },
    },
  },
};

/** Reads the entries; expired ones are reported and count no longer. */
export function readIgnores(files: ReadonlyMap<string, SchemaFile>, today: string, report: Report): IgnoreEntry[] {
  const file = files.get(ignoreFileName);
  if (file === undefined) return [];
  const validate = new Ajv({ allErrors: true }).compile<{ ignore: IgnoreEntry[] }>(ignoreSchema);
  const { value } = file.json;
  if (!validate(value)) {
    for (const error of validate.errors ?? []) {
      report.add(
        { file, pointer: error.instancePath },
        { rule: "ignore-entry", message: error.message ?? "is not allowed" },
      );
    }
    return [];
  }
  return value.ignore.filter((entry, index) => {
    if (entry.until >= today) return true;
    const message = `this entry for "${entry.queue}" ended on ${entry.until}`;
    report.add({ file, pointer: `/ignore/${index}` }, { severity: "info", rule: "ignore-expired", message });
    return false;
  });
}

/** Whether an entry covers a finding. */
export function covers(entry: IgnoreEntry, finding: { queue: string; rule: string; pointer: string }): boolean {
  if (entry.queue !== finding.queue || entry.rule !== finding.rule) return false;
  return entry.pointer === undefined || entry.pointer === finding.pointer;
}
