/**
 * The run-time parts that standalone validators call. Generated code reaches them through "postrider", so that a user's
 * project needs no `ajv` of its own beside ours (strict package managers would not let it see ours).
 */

import equal from "ajv/dist/runtime/equal.js";
import ucs2length from "ajv/dist/runtime/ucs2length.js";
import { fullFormats } from "ajv-formats/dist/formats.js";

/** By the name of ajv's module. For generated validators only; not part of the stable surface. */
export const validatorParts = Object.freeze({ ucs2length, equal, formats: { fullFormats } });
