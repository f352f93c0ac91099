/**
 * Every queue setting once: type, unit, default, bounds and a sentence. Codegen checks `x-queue` against this schema, the
 * runtime checks queues made in code against it, and the table in the docs is printed from it.
 */
import { Ajv } from "ajv";
import { cronFault } from "./cron.js";
import { flowOptions } from "./flow-options.js";
import { ms, pointers } from "./option-types.js";
import { valueAt } from "./pointer.js";
import type { QueueSettings } from "./queue.js";

/** The JSON Schema of `x-queue`. `default` is what a queue gets that says nothing. */
export const queueOptionsSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    name: { type: "string", minLength: 1, maxLength: 254, description: "The name in the database." },
    identifier: { type: "string", pattern: "^[\\p{L}_$][\\p{L}\\p{N}_$]*$", description: "The name in code." },
    exclusive: { type: "boolean", default: false, description: "At most one batch in flight in the whole cluster." },
    maxBatchMessages: {
      type: "integer",
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description: "Messages in one stored batch, and in one handler call.",
    },
    maxBatchBytes: {
      type: "integer",
      minimum: 1_024,
      maximum: 67_108_864,
      default: 1_048_576,
      description: "The same bound in bytes of JSON.",
    },
    concurrency: {
      type: "integer",
      minimum: 1,
      maximum: 1_000,
      default: 1,
      description: "Handler calls at once on one node.",
    },
    dedup: {
      type: "object",
      additionalProperties: false,
      required: ["by"],
      properties: {
        by: { ...pointers("JSON Pointers into the message."), minItems: 1 },
        keep: { enum: ["first", "last"], default: "first", description: "Which of the equal messages is kept." },
      },
      description: "Drops repeats within what is published together.",
    },
    ...flowOptions,
    maxAttempts: {
      type: "integer",
      minimum: 1,
      maximum: 1_000,
      default: 5,
      description: "Deliveries before the dead letters.",
    },
    backoff: {
      type: "object",
      additionalProperties: false,
      properties: {
        initialMs: ms("Wait after the first failure.", { default: 1_000 }),
        factor: { type: "number", minimum: 1, maximum: 100, default: 2, description: "Growth per failure." },
        maxMs: ms("Longest wait.", { default: 3_600_000 }),
        jitter: {
          type: "number",
          minimum: 0,
          maximum: 1,
          default: 0.25,
          description: "Spread, as a share of the wait.",
        },
      },
      default: {},
      description: "Wait before the next attempt.",
    },
    timeoutMs: ms("Limit for one handler call; none by default.", { minimum: 1 }),
    buffer: {
      description: "How publishes are gathered: `adaptive`, a sliding window, or `false` for none.",
      default: "adaptive",
      oneOf: [
        { const: "adaptive" },
        { const: false },
        {
          type: "object",
          additionalProperties: false,
          required: ["windowMs"],
          properties: {
            windowMs: ms("Written this long after the last message.", { minimum: 1 }),
            maxMs: ms("At most this long after the first message; 0 = no such bound."),
            maxAttempts: { type: "integer", minimum: 0, description: "Writes tried; 0 = for ever." },
          },
        },
      ],
    },
    orphanAfterMs: ms("No heartbeat for this long and the owner's session gone: recovered.", {
      minimum: 100,
      default: 8_000,
    }),
    staleAfterMs: ms("No heartbeat for this long, whatever the session: recovered.", {
      minimum: 100,
      default: 600_000,
    }),
    deadLetter: {
      description: "How long dead letters are kept, or `false`: exhausted batches are deleted.",
      default: {},
      oneOf: [
        { const: false },
        {
          type: "object",
          additionalProperties: false,
          properties: { retentionMs: ms("Kept for this long.") },
        },
      ],
    },
    schedule: {
      type: "array",
      maxItems: 100,
      uniqueItems: true,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["cron", "message"],
        properties: {
          cron: { type: "string", maxLength: 200, description: "Five fields, or six with seconds first." },
          timeZone: { type: "string", maxLength: 100, default: "UTC", description: "An IANA time zone." },
          message: { description: "The message to store; checked against the schema." },
          catchUp: {
            type: "integer",
            minimum: 0,
            maximum: 100,
            default: 1,
            description: "Missed occurrences that are stored late, at most; the newest.",
          },
        },
      },
      description: "Messages that are stored by the clock, each occurrence once in the whole cluster.",
    },
    version: { type: "integer", minimum: 1, maximum: 2_147_483_647, default: 1, description: "The message's version." },
    aliases: {
      type: "array",
      items: { type: "string", minLength: 1, maxLength: 254 },
      uniqueItems: true,
      default: [],
      description: "Former names of the queue.",
    },
    redact: {
      ...pointers("JSON Pointers (`*` for any index or key) whose values are never shown."),
      default: [],
    },
  },
} as const;

/** The names of all queue settings, for "did you mean". */
export const queueOptionNames: readonly string[] = Object.keys(queueOptionsSchema.properties);

const ajv = new Ajv({ useDefaults: true, allErrors: true, strict: false, unicodeRegExp: true });
const validate = ajv.compile(queueOptionsSchema);

/** What is wrong with one setting: where (JSON Pointer below `x-queue`), and a sentence that names what is allowed. */
export interface OptionProblem {
  readonly pointer: string;
  readonly message: string;
}

/** `x-queue` as written, checked and with every default filled in; or every problem at once. */
export function resolveQueueOptions(
  options: Readonly<Record<string, unknown>>,
): { settings: QueueSettings; problems: [] } | { settings?: undefined; problems: OptionProblem[] } {
  const filled = structuredClone(options) as Record<string, unknown>;
  if (!validate(filled)) return { problems: problemsOf(filled) };
  const { name: _name, identifier: _identifier, ...settings } = filled;
  fillVariants(settings);
  const problems = combinationProblems(settings as unknown as QueueSettings);
  if (problems.length > 0) return { problems };
  return { settings: Object.freeze(settings) as unknown as QueueSettings, problems: [] };
}

// ajv fills no defaults inside oneOf (it would be guessing the branch), so these are filled by hand.
function fillVariants(settings: Record<string, unknown>): void {
  if (settings.orderBy !== undefined) {
    const written = typeof settings.orderBy === "string" ? { by: settings.orderBy } : (settings.orderBy as object);
    settings.orderBy = { onFailure: "block", ...written };
  }
  if (settings.deadLetter !== false) {
    settings.deadLetter = { retentionMs: 1_209_600_000, ...(settings.deadLetter as object) };
  }
  if (typeof settings.buffer === "object") {
    settings.buffer = { maxMs: 5_000, maxAttempts: 10, ...(settings.buffer as object) };
  }
}

function combinationProblems(settings: QueueSettings): OptionProblem[] {
  const problems: OptionProblem[] = [];
  if (settings.staleAfterMs < settings.orphanAfterMs) {
    problems.push({
      pointer: "/staleAfterMs",
      message: `staleAfterMs (${settings.staleAfterMs}) must not be below orphanAfterMs (${settings.orphanAfterMs})`,
    });
  }
  if (settings.backoff.maxMs < settings.backoff.initialMs) {
    problems.push({
      pointer: "/backoff/maxMs",
      message: `backoff.maxMs (${settings.backoff.maxMs}) must not be below backoff.initialMs (${settings.backoff.initialMs})`,
    });
  }
  for (const [index, rule] of (settings.schedule ?? []).entries()) {
    const fault = cronFault(rule);
    if (fault === undefined) continue;
    problems.push({ pointer: `/schedule/${index}/${fault.key}`, message: `schedule: ${fault.key} ${fault.message}` });
  }
  if (settings.exclusive && settings.maxInFlight !== undefined) {
    problems.push({
      pointer: "/maxInFlight",
      message: `exclusive already says one batch in flight; take off exclusive or maxInFlight (${settings.maxInFlight})`,
    });
  }
  if (settings.orderBy !== undefined && settings.unique?.onConflict === "replace") {
    problems.push({
      pointer: "/unique/onConflict",
      message:
        'onConflict "replace" excludes orderBy: what is replaced would lose its place in line; allowed is "skip"',
    });
  }
  return problems;
}

function problemsOf(options: unknown): OptionProblem[] {
  // A failed oneOf reports every branch; its own summary line is the readable one, so the branches' lines go.
  const errors = validate.errors ?? [];
  const unions = errors
    .filter((error) => error.keyword === "oneOf")
    .map((error) => error.schemaPath.replace(/\/oneOf$/, ""));
  return errors
    .filter(({ schemaPath }) => !schemaPath.includes("/contains/"))
    .filter((error) => !unions.some((union) => error.schemaPath.startsWith(`${union}/oneOf/`)))
    .map((error) => ({ pointer: error.instancePath, message: sentenceOf(error, options) }));
}

function sentenceOf(error: NonNullable<typeof validate.errors>[number], options: unknown): string {
  const found = JSON.stringify(valueAt(options, error.instancePath));
  switch (error.keyword) {
    case "additionalProperties":
      return `unknown setting ${JSON.stringify(error.params.additionalProperty)}; allowed are ${queueOptionNames.join(", ")}`;
    case "contains":
      return `must contain "pending", found ${found}`;
    case "enum":
      return `must be one of ${JSON.stringify(error.params.allowedValues)}, found ${found}`;
    case "oneOf":
      return `${descriptionAt(error.instancePath)} Found ${found}`;
    default:
      return `${error.message ?? "is not allowed"}, found ${found}`;
  }
}

function descriptionAt(pointer: string): string {
  const key = pointer.slice(1) as keyof typeof queueOptionsSchema.properties;
  return queueOptionsSchema.properties[key]?.description ?? "is not allowed.";
}
