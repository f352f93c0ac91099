/** The 75 changes: verdicts right in both directions, a witness for every break, and no break where there is none. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { bundleSchema } from "../../codegen/bundle.js";
import { compareSchemas, type Verdict } from "../../codegen/compat/verdict.js";
import { schemasFromTexts } from "../../codegen/load.js";

interface Change {
  readonly id: string;
  readonly change: string;
  readonly a: unknown;
  readonly b: unknown;
  readonly queue: { readonly backward: string; readonly forward: string };
}

const changes = JSON.parse(readFileSync(new URL("evolution/rules.json", import.meta.url), "utf8")) as Change[];

describe("changes of a schema", () => {
  it("are 75 and more", () => assert.ok(changes.length >= 75));

  for (const { id, change, a, b, queue } of changes) {
    it(`${id}: ${change} -> backward ${queue.backward}, forward ${queue.forward}`, () => {
      const verdicts = compareSchemas({ before: bundleOf(a), after: bundleOf(b) });
      check(verdicts.backward, queue.backward);
      check(verdicts.forward, queue.forward);
    });
  }
});

function check(verdict: Verdict, wanted: string): void {
  assert.equal(verdict.outcome, wanted === "ok" ? "compatible" : "breaking", JSON.stringify(verdict));
  if (wanted !== "ok") assert.ok(verdict.witnesses.length > 0);
}

function bundleOf(schema: unknown) {
  const loaded = schemasFromTexts(new Map([["message.json", JSON.stringify(schema)]]), "schemas");
  const file = loaded.files.get("message.json");
  assert.ok(file !== undefined);
  return bundleSchema({ file, files: loaded.files, dialect: "2020-12" });
}
