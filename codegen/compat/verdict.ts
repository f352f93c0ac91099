/** One direction of one queue's change: proven compatible, broken by a witness, or unknown. */
import type { Bundle } from "../bundle.js";
import { canonicalJson } from "../bundle.js";
import { deliverSchema } from "../variants/deliver-schema.js";
import { publishSchema } from "../variants/publish-schema.js";
import { SchemaDocument } from "./document.js";
import { Inclusion } from "./inclusion.js";
import { findWitnesses, type Witness } from "./witness.js";

/** `unknown` counts as a break: it means that nothing was proven and no witness was found. */
export interface Verdict {
  readonly outcome: "compatible" | "breaking" | "unknown";
  readonly witnesses: readonly Witness[];
}

/** Both directions of a change. */
export interface Verdicts {
  /** Messages published under the old schema reach consumers of the new one. */
  readonly backward: Verdict;
  /** Messages published under the new schema reach consumers of the old one. */
  readonly forward: Verdict;
}

const same: Verdict = { outcome: "compatible", witnesses: [] };

/** Of a schema with itself. */
export const unchanged: Verdicts = { backward: same, forward: same };

/** Compares two versions of a message's schema as a queue uses them: published strictly, delivered leniently. */
export function compareSchemas(of: { before: Bundle; after: Bundle; examples?: readonly unknown[] }): Verdicts {
  const { before, after, examples = [] } = of;
  if (sameBundle(before, after)) return unchanged;
  return {
    backward: verdict(published(before), delivered(after), examples),
    forward: verdict(published(after), delivered(before), examples),
  };
}

function verdict(sub: SchemaDocument, sup: SchemaDocument, examples: readonly unknown[]): Verdict {
  if (new Inclusion(sub, sup).proven) return { outcome: "compatible", witnesses: [] };
  const witnesses = findWitnesses(sub, sup, examples);
  return { outcome: witnesses.length > 0 ? "breaking" : "unknown", witnesses };
}

function published(bundle: Bundle): SchemaDocument {
  return new SchemaDocument(publishSchema(bundle), bundle.dialect);
}

function delivered(bundle: Bundle): SchemaDocument {
  return new SchemaDocument(deliverSchema(bundle), bundle.dialect);
}

function sameBundle(a: Bundle, b: Bundle): boolean {
  const text = (bundle: Bundle) => canonicalJson([bundle.dialect, bundle.root, [...bundle.definitions].sort()]);
  return text(a) === text(b);
}
