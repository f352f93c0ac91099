/** Rule M6: where the backend of a client comes from. */
import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { createRuntime, type RuntimeOptions } from "../../src/create-runtime.js";
import { testClient } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";

const queues = [testQueue("q")];
// Nobody listens there.
const connectionString = "postgres://nobody@127.0.0.1:1/none";

function inEnvironment(t: TestContext, value: string): void {
  process.env.POSTRIDER_BACKEND = value;
  t.after(() => delete process.env.POSTRIDER_BACKEND);
}

const refuses = (options: Partial<RuntimeOptions>, message: string) =>
  assert.throws(() => createRuntime({ queues, ...options }), { code: "ERR_CLIENT_OPTIONS", message });

test("M6 POSTRIDER_BACKEND chooses the backend, also where an address is given", async (t) => {
  inEnvironment(t, "memory");
  const mq = testClient(t, { queues, connectionString });
  assert.notEqual((await mq.queue("q").publish({ n: 1 })).batchId, "");
});

test("M6 what the code says counts for more than the environment", async (t) => {
  inEnvironment(t, "memory");
  const mq = testClient(t, { queues: [testQueue("q", { buffer: false })], connectionString, backend: "postgres" });
  await assert.rejects(mq.queue("q").publish({ n: 1 }), /ECONNREFUSED/);
});

test("M6 another value is an error that lists the valid ones, and says where it was found", (t) => {
  refuses({ backend: "mysql" as "memory" }, 'backend must be "postgres", "memory" or an object, found "mysql"');
  inEnvironment(t, "redis");
  refuses({}, 'POSTRIDER_BACKEND must be "postgres", "memory", found "redis"');
});
