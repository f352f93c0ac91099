/** The shortcut of the gate must never call two schemas the same that differ: each pair here has a value that tells them apart. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SchemaDocument } from "../../codegen/compat/document.js";
import { sameMeaning } from "../../codegen/compat/same-meaning.js";
import type { Dialect } from "../../codegen/schema.js";

interface Side {
  readonly schema: unknown;
  readonly dialect?: Dialect;
}

const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
const text = { type: "string" };
const number = { type: "number" };
const one = (schema: unknown) => ({ type: "object", properties: { a: schema } });

const pairs: Record<string, { left: Side; right: Side; value: unknown }> = {
  "the same reference to another definition": {
    left: { schema: { ...one(ref("x")), $defs: { x: text } } },
    right: { schema: { ...one(ref("x")), $defs: { x: number } } },
    value: { a: "t" },
  },
  "definitions that have changed places behind a chain": {
    left: { schema: { ...one(ref("x")), $defs: { x: ref("y"), y: text, z: number } } },
    right: { schema: { ...one(ref("x")), $defs: { x: ref("z"), y: text, z: number } } },
    value: { a: "t" },
  },
  "a recursion that differs one level down": {
    left: { schema: { ...ref("t"), $defs: { t: { properties: { n: ref("t"), v: text } } } } },
    right: { schema: { ...ref("t"), $defs: { t: { properties: { n: ref("t"), v: number } } } } },
    value: { n: { v: "t" } },
  },
  "a difference after a pair that is assumed to be the same": {
    left: {
      schema: {
        allOf: [ref("t"), { properties: { v: ref("u") } }],
        $defs: { t: { properties: { n: ref("t") } }, u: text },
      },
    },
    right: {
      schema: {
        allOf: [ref("t"), { properties: { v: ref("u") } }],
        $defs: { t: { properties: { n: ref("t") } }, u: number },
      },
    },
    value: { v: "t" },
  },
  "two recursions whose definitions are crossed": {
    left: {
      schema: {
        ...ref("a"),
        $defs: { a: { properties: { n: ref("b") } }, b: { properties: { n: ref("a"), v: text } } },
      },
    },
    right: {
      schema: {
        ...ref("a"),
        $defs: { a: { properties: { n: ref("b") } }, b: { properties: { n: ref("b"), v: text } } },
      },
    },
    value: { n: { n: { v: 1 } } },
  },
  "a constant that only looks like a reference": {
    left: { schema: { ...one({ const: { $ref: "#/$defs/x" } }), $defs: { x: text, y: text } } },
    right: { schema: { ...one({ const: { $ref: "#/$defs/y" } }), $defs: { x: text, y: text } } },
    value: { a: { $ref: "#/$defs/x" } },
  },
  "an enum of things that only look like references": {
    left: { schema: { ...one({ enum: [{ $ref: "#/$defs/x" }] }), $defs: { x: text, y: text } } },
    right: { schema: { ...one({ enum: [{ $ref: "#/$defs/y" }] }), $defs: { x: text, y: text } } },
    value: { a: { $ref: "#/$defs/x" } },
  },
  "a property called const": {
    left: { schema: { properties: { const: ref("x") }, $defs: { x: text } } },
    right: { schema: { properties: { const: ref("x") }, $defs: { x: number } } },
    value: { const: "t" },
  },
  "a property called $ref": {
    left: { schema: { properties: { $ref: ref("x") }, $defs: { x: text } } },
    right: { schema: { properties: { $ref: ref("x") }, $defs: { x: number } } },
    value: { $ref: "t" },
  },
  "a list and an object with the list's keys": {
    left: { schema: one({ const: ["t"] }) },
    right: { schema: one({ const: { "0": "t" } }) },
    value: { a: ["t"] },
  },
  "a number and its text": {
    left: { schema: one({ const: 1 }) },
    right: { schema: one({ const: "1" }) },
    value: { a: 1 },
  },
  "true and an object that refuses": {
    left: { schema: one(true) },
    right: { schema: one({ not: {} }) },
    value: { a: 1 },
  },
  "a keyword that only one of two dialects knows": {
    left: { schema: one({ prefixItems: [text] }), dialect: "draft-07" },
    right: { schema: one({ prefixItems: [text] }), dialect: "2020-12" },
    value: { a: [1] },
  },
};

describe("sameMeaning", () => {
  for (const [name, { left, right, value }] of Object.entries(pairs)) {
    it(`tells apart: ${name}`, () => {
      const documents = [left, right].map((side) => new SchemaDocument(side.schema, side.dialect ?? "2020-12"));
      const [a, b] = documents as [SchemaDocument, SchemaDocument];
      assert.notEqual(a.accepts([a.root], value), b.accepts([b.root], value), "the value tells them apart");
      assert.equal(sameMeaning(a.root, b.root, [a, b]), false);
      assert.equal(sameMeaning(b.root, a.root, [b, a]), false);
    });
  }

  it("still sees that definitions under other names are the same", () => {
    const tree = (name: string) => ({ ...ref(name), $defs: { [name]: { properties: { n: ref(name) } } } });
    const [a, b] = [new SchemaDocument(tree("x"), "2020-12"), new SchemaDocument(tree("y"), "2020-12")];
    assert.equal(sameMeaning(ref("x"), ref("y"), [a, b]), true);
  });
});
