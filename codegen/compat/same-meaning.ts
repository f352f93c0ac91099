/** Whether two schemas, each with definitions of its own, are the same once every reference is followed. */
import { canonicalJson } from "../bundle.js";
import { isSchemaObject } from "../schema.js";
import type { SchemaDocument } from "./document.js";

/** Equal text is not enough where it holds references: `#/$defs/x` may lead to something else on the other side. */
export function sameMeaning(a: unknown, b: unknown, documents: readonly [SchemaDocument, SchemaDocument]): boolean {
  // A keyword may count in one dialect and be passed over in the other.
  if (documents[0].dialect !== documents[1].dialect) return false;
  return new Comparison(documents).same(a, b);
}

const dataKeywords = new Set(["const", "enum", "default", "examples"]);

class Comparison {
  readonly #documents: readonly [SchemaDocument, SchemaDocument];
  readonly #assumed = new Set<string>();

  constructor(documents: readonly [SchemaDocument, SchemaDocument]) {
    this.#documents = documents;
  }

  same(a: unknown, b: unknown): boolean {
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((item, index) => this.same(item, b[index]));
    }
    if (!isSchemaObject(a) || !isSchemaObject(b)) return canonicalJson([a]) === canonicalJson([b]);
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => {
      if (!Object.hasOwn(b, key)) return false;
      const [mine, theirs] = [a[key], b[key]];
      if (key === "$ref" && typeof mine === "string" && typeof theirs === "string")
        return this.#sameTarget(mine, theirs);
      // Data may look like a reference, and a property may be called "const": then both the text and the meaning must agree.
      if (dataKeywords.has(key) && canonicalJson([mine]) !== canonicalJson([theirs])) return false;
      return this.same(mine, theirs);
    });
  }

  // A pair that is being compared already is assumed to be the same: only a difference elsewhere can tell them apart.
  #sameTarget(mine: string, theirs: string): boolean {
    const pair = JSON.stringify([mine, theirs]);
    if (this.#assumed.has(pair)) return true;
    this.#assumed.add(pair);
    const [left, right] = this.#documents;
    return this.same(left.resolve(mine), right.resolve(theirs));
  }
}
