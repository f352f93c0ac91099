/** The case collection: schemas that generators get wrong, with samples and how each must end. */
import { readdirSync, readFileSync } from "node:fs";
import { schemasFromTexts } from "../../codegen/load.js";

/** A value, and whether the type lets it be written. */
export interface Sample {
  readonly value: unknown;
  readonly ts: "accept" | "reject" | "either";
  readonly inexpressible?: boolean;
}

/** One file of the collection. */
export interface Case {
  readonly id: string;
  readonly title: string;
  readonly draft: "2020-12" | "07";
  readonly fileName: string;
  readonly schema: unknown;
  readonly files?: Readonly<Record<string, unknown>>;
  readonly rawText?: string;
  readonly valid: readonly Sample[];
  readonly invalid: readonly Sample[];
  /** `agrees`, or the rule that refuses it. */
  readonly outcome: string;
}

const folder = new URL("cases/", import.meta.url);
/** Every case, by file name. */
export const cases: readonly Case[] = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Case);

/** The schema files of a case. */
export function loadCase(example: Case) {
  const texts = new Map<string, string>();
  for (const [path, schema] of Object.entries(example.files ?? {})) texts.set(path, JSON.stringify(schema, null, 2));
  texts.set(example.fileName, example.rawText ?? JSON.stringify(example.schema, null, 2));
  return schemasFromTexts(texts, "schemas");
}
