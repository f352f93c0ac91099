/** Schemas that mean harm, or are merely enormous: a refusal that names the place, soon, and nothing is fetched. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emit } from "../../codegen/emit.js";
import { generate } from "../../codegen/generate.js";
import { schemasFromTexts } from "../../codegen/load.js";
import { CodegenError, type Problem } from "../../codegen/problem.js";
import { idSchema, testProject } from "./project.js";

async function refused(schema: unknown): Promise<readonly Problem[]> {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  const started = performance.now();
  const outcome = await emit(schemasFromTexts(new Map([["message.json", text]]), "schemas"), {
    display: "schemas",
    schemasFromOut: "../schemas",
  }).catch((error: unknown) => error);
  assert.ok(outcome instanceof CodegenError, "it was accepted");
  assert.ok(performance.now() - started < 5_000, "it took too long");
  return outcome.problems;
}

const withProperty = (schema: unknown) => ({ type: "object", properties: { p: schema } });

describe("hostile schemas", () => {
  const cases: readonly [what: string, schema: unknown, rule: string][] = [
    ["a key that ends a comment", { type: "object", $defs: { "x */ evil(); /*": {} } }, "comment-end"],
    ["__proto__ as a property", '{"type":"object","properties":{"__proto__":{"type":"string"}}}', "key-name"],
    ["__proto__ in a const", '{"const":{"__proto__":1}}', "key-name"],
    ["a remote reference", withProperty({ $ref: "https://example.org/x.json" }), "relative-ref"],
    ["a file URL", withProperty({ $ref: "file:///etc/passwd" }), "relative-ref"],
    ["an absolute path", withProperty({ $ref: "/etc/passwd" }), "relative-ref"],
    ["a path out of the folder", withProperty({ $ref: "../../etc/passwd" }), "ref-missing"],
    ["an encoded path out of the folder", withProperty({ $ref: "%2e%2e/%2e%2e/etc/passwd" }), "ref-missing"],
    ["a catastrophic pattern", withProperty({ type: "string", pattern: "^(a+)+$" }), "pattern-slow"],
    ["a catastrophic key pattern", { type: "object", patternProperties: { "^(a|a)*$": {} } }, "pattern-slow"],
    ["a pattern that does not compile", withProperty({ type: "string", pattern: "[\\w-.]" }), "pattern-invalid"],
    ["a reference to itself", withProperty({ $ref: "#/properties/p" }), "ref-cycle"],
    [
      "references in a circle",
      {
        type: "object",
        properties: { p: { $ref: "#/$defs/a" } },
        $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
      },
      "ref-cycle",
    ],
    [
      "a union that is part of itself",
      {
        type: "object",
        properties: { p: { $ref: "#/$defs/a" } },
        $defs: { a: { anyOf: [{ type: "string" }, { $ref: "#/$defs/a" }] } },
      },
      "ref-cycle",
    ],
    [
      "10,000 properties",
      { type: "object", properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, {}])) },
      "too-large",
    ],
    ["nesting without end", `${'{"not":'.repeat(5_000)}{}${"}".repeat(5_000)}`, "too-deep"],
    ["arrays without end", "[".repeat(100_000), "too-deep"],
    ["a tuple of a million", withProperty({ type: "array", minItems: 1_000_000 }), "too-large"],
    ["branches that multiply", exploding(), "too-many-branches"],
    ["a lone control character", '{"type":"obj\u0001ect"}', "json"],
    ["NaN", '{"minimum": NaN}', "json"],
    ["a comment", '{ // no\n "type": "object" }', "json"],
    ["nothing", "", "json"],
  ];
  for (const [what, schema, rule] of cases) {
    it(`${what} -> ${rule}`, async () => {
      const problems = await refused(schema);
      assert.equal(problems[0]?.rule, rule, JSON.stringify(problems.slice(0, 3)));
      assert.ok((problems[0]?.line ?? 0) >= 1);
    });
  }

  it("a file of ten megabytes is not even read", async () => {
    const project = await testProject({
      "a.json": idSchema,
      "big.json": `{"description":"${"x".repeat(10_485_760)}"}`,
    });
    const error = await generate({ cwd: project.cwd }).catch((reason: unknown) => reason);
    assert.ok(error instanceof CodegenError);
    assert.deepEqual(
      error.problems.map(({ file, rule }) => [file, rule]),
      [["schemas/big.json", "file-size"]],
    );
    await project.remove();
  });

  it("words of a schema never become code", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the point of the test
    const evil = "*/ export const evil = 1; /* `${evil}` \u2028 export const evil = 2;\n@deprecated {@link evil}";
    const schema = {
      title: evil,
      description: evil,
      type: "object",
      properties: { [`"]: never } ${"`"}`]: { description: evil, enum: [evil] } },
      "x-queue": { name: evil.slice(0, 60) },
    };
    const { files } = await emit(schemasFromTexts(new Map([["message.json", JSON.stringify(schema)]]), "schemas"), {
      display: "schemas",
      schemasFromOut: "../schemas",
    });
    for (const [path, text] of files) {
      if (path.endsWith(".map")) continue;
      const code = text.replace(/\/\*(?:(?!\*\/)[\s\S])*\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"/g, "");
      assert.ok(!code.includes("evil"), `${path}\n${code}`);
      assert.ok(!/[^\\]@deprecated/.test(text.replace(/"(?:[^"\\\n]|\\.)*"/g, "")), path);
    }
  });

  it("a byte order mark and CRLF are no harm", async () => {
    const text = `\uFEFF${JSON.stringify(idSchema, null, 2).replaceAll("\n", "\r\n")}`;
    const plain = schemasFromTexts(new Map([["message.json", JSON.stringify(idSchema, null, 2)]]), "schemas");
    const marked = schemasFromTexts(new Map([["message.json", text]]), "schemas");
    const paths = { display: "schemas", schemasFromOut: "../schemas" };
    assert.deepEqual(
      (await emit(marked, paths)).files.get("index.js"),
      (await emit(plain, paths)).files.get("index.js"),
    );
  });
});

function exploding(): object {
  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
  return {
    type: "object",
    properties: Object.fromEntries([...keys, "z"].map((key) => [key, { type: "string" }])),
    dependentRequired: Object.fromEntries(keys.map((key) => [key, ["z"]])),
  };
}
