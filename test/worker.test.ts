/** A node's start: what it records of its queues, and what it says where another node's record differs (Q3). */
import assert from "node:assert/strict";
import test from "node:test";
import { createRuntime, type Logger, type QueueDefinition } from "postrider";
import { queues } from "../generated/queues.js";
import { testDatabase } from "./support/database.js";

const { connectionString } = await testDatabase();

/** Starts and stops a node; the warnings it gave. */
async function warningsOfStart(definitions: readonly QueueDefinition[]): Promise<readonly string[]> {
  const warnings: string[] = [];
  const quiet = () => undefined;
  const logger: Logger = { debug: quiet, info: quiet, warn: (_, text) => void warnings.push(text), error: quiet };
  const node = createRuntime({ connectionString, queues: definitions, logger });
  await node.start();
  await node.stop();
  return warnings;
}

test("a second node with the same queues has nothing to say", async () => {
  await warningsOfStart(queues);
  assert.deepEqual(await warningsOfStart(queues), []);
});

test("a node whose settings differ names the queue and the settings", async () => {
  const changed = queues.map((queue) =>
    queue.name === "email-send" ? { ...queue, settings: { ...queue.settings, maxAttempts: 3 } } : queue,
  );
  assert.deepEqual(await warningsOfStart(changed), [
    'queue "email-send" is recorded with another maxAttempts; this node\'s are recorded now',
  ]);
});
