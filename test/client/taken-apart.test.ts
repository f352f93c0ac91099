/** What a client offers works when it is taken off it: `const { queue, health } = createClient()`. */
import assert from "node:assert/strict";
import test from "node:test";
import { createRuntime } from "../../src/create-runtime.js";
import { keptLog } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";

test("a client can be taken apart: its functions know whose they are", async () => {
  const mq = createRuntime({ backend: "memory", queues: [testQueue("apart")], logger: keptLog() });
  const { queue, health, flush, start, stop, transaction, afterCommit, transactionState, lastActivity, metrics, on } =
    mq;
  const { start: onStart, stop: onStop } = mq.hooks;
  const { depths } = mq.inspect;
  const { get } = mq.progress;
  const { publish, size } = queue("apart");
  const told: string[] = [];
  onStart(() => told.push("start"));
  onStop(() => told.push("stop"));
  on("published", () => told.push("published"));
  await start();
  await transaction(async () => {
    assert.deepEqual(transactionState(), new Map());
    await publish({ n: 1 });
    afterCommit(() => told.push("committed"));
  });
  await flush();
  assert.equal((await size()).pending, 1);
  assert.equal((await depths())[0]?.pending, 1);
  assert.equal(await get("nothing"), undefined);
  assert.equal(health().listener, "up");
  assert.ok(lastActivity("apart") instanceof Date);
  assert.match(await metrics(), /postrider_messages_published_total/);
  await stop();
  assert.deepEqual(told.sort(), ["committed", "published", "start", "stop"]);
});
