/** Queues made at run time, for tests that need settings of their own. */
import { createHash } from "node:crypto";
import { Ajv } from "ajv";
import { resolveQueueOptions } from "../../src/queue/options.js";
import type { QueueDefinition } from "../../src/queue/queue.js";

const properties = {
  n: { type: "integer" },
  text: { type: "string" },
  key: { type: "string" },
};

/** What the tests' queues carry. */
export interface TestMessage {
  readonly n: number;
  readonly text?: string;
  readonly key?: string;
}

const ajv = new Ajv({ strict: false });

/** A queue whose messages are {@link TestMessage}s, with the given settings as in `x-queue`. */
export function testQueue(name: string, options: Readonly<Record<string, unknown>> = {}): QueueDefinition {
  const { settings, problems } = resolveQueueOptions(options);
  if (settings === undefined)
    throw new Error(problems.map(({ pointer, message }) => `${pointer}: ${message}`).join("\n"));
  const lenient = { type: "object", properties, required: ["n"] };
  const strict = { ...lenient, additionalProperties: false };
  const identifier = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    name,
    identifier,
    typeName: `${identifier[0]?.toUpperCase()}${identifier.slice(1)}`,
    settings,
    schema: strict,
    schemaHash: createHash("sha256").update(JSON.stringify(strict)).digest("hex"),
    validatePublish: ajv.compile(strict),
    validateDeliver: ajv.compile(lenient),
  };
}
