/** The page names every rule, and no rule that is none. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { validatorPartNames } from "../../codegen/emit/validator-module.js";
import { validatorParts } from "../../src/queue/validator-parts.js";

const folder = new URL("../../codegen/", import.meta.url);
const sources = (readdirSync(folder, { recursive: true }) as string[])
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(new URL(name, folder), "utf8"))
  .join("\n");
const page = readFileSync(new URL("../../docs/codegen.md", import.meta.url), "utf8");

describe("docs/codegen.md", () => {
  it("names every rule", () => {
    const places = [
      /rule: "([a-z-]+)"/g,
      /(?:refuse|warn)\("((?:name|ref|setting|order|retention|dead|dedup|redact|relative)-[a-z-]+)"/g,
    ];
    const rules = places.flatMap((pattern) => [...sources.matchAll(pattern)].map((match) => match[1] ?? ""));
    const unnamed = [...new Set(rules)].filter((rule) => !page.includes(`\`${rule}\``));
    assert.deepEqual(
      unnamed.filter((rule) => !["unknown", "ignore-entry", "ignore-expired"].includes(rule)),
      [],
    );
  });

  it("and the runtime hands out every part that validators may call", () => {
    assert.deepEqual([...validatorPartNames].sort(), Object.keys(validatorParts).sort());
  });
});
