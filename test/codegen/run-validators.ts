/** Runs generated validators without writing them: the module's text becomes a function. */
import type { Validate } from "../../src/queue/queue.js";
import { validatorParts } from "../../src/queue/validator-parts.js";

/** Both validators of a generated module. */
export interface Validators {
  readonly publish: Validate;
  readonly deliver: Validate;
}

/** Evaluates a generated validators module. */
export function runValidators(module: string): Validators {
  const body = module
    .replace('import * as $rt from "postrider";', "")
    .replace(/(^|;)export const (\w+) = /gm, "$1const $2 = $exports.$2 = ");
  // The text is what the generator made of our own test's schema.
  // Strict, as modules are: `this` says which side asks, and must not become an object.
  const run = new Function("$rt", "$exports", `"use strict";${body}`) as (
    rt: unknown,
    exports: Record<string, unknown>,
  ) => void;
  const exports: Record<string, unknown> = {};
  run({ validatorParts }, exports);
  return exports as unknown as Validators;
}
