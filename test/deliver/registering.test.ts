/** Registering queues and listeners, and what a client says of itself. */
import assert from "node:assert/strict";
import test from "node:test";
import { createRuntime } from "../../src/create-runtime.js";
import { heard, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const empty = await testDatabase({ empty: true });

test("Q2 the same definition twice is a no-op, another one under its name an error that shows both", () => {
  createRuntime({ queues: [testQueue("same"), testQueue("same")] });
  const queues = [testQueue("same"), testQueue("same", { maxAttempts: 9 })];
  assert.throws(
    () => createRuntime({ queues }),
    ({ code, message }) => {
      return (
        code === "ERR_QUEUE_CONFLICT" && message.includes('"maxAttempts":5') && message.includes('"maxAttempts":9')
      );
    },
  );
});

test("Q4 a queue that is not declared is an error that names near ones", (t) => {
  const mq = testClient(t, { queues: [testQueue("order-placed"), testQueue("email-send")], connectionString });
  assert.throws(
    () => mq.queue("order-place"),
    ({ code, message }) => {
      return code === "ERR_QUEUE_UNDECLARED" && message.includes('"order-placed"') && !message.includes("email");
    },
  );
});

test("Q4 of ten registrations at once one wins", (t) => {
  const mq = testClient(t, { queues: [testQueue("ten")], connectionString });
  const codes = upTo(10).map(() => {
    try {
      mq.queue("ten").listen(() => undefined);
      return "won";
    } catch (error) {
      return (error as { code?: string }).code;
    }
  });
  assert.deepEqual(codes, ["won", ...Array.from({ length: 9 }, () => "ERR_LISTENER_EXISTS")]);
});

test("a concurrency that would never claim, or claim for ever, is refused", (t) => {
  const mq = testClient(t, { queues: [testQueue("concurrency")], connectionString });
  for (const concurrency of [0, -1, 1.5, Number.NaN, 1_001]) {
    const listen = () => mq.queue("concurrency").listen(() => undefined, { concurrency });
    assert.throws(listen, { code: "ERR_CLIENT_OPTIONS" });
  }
});

test("a handler that is no function, and an option that is none, are refused when they are registered", (t) => {
  const mq = testClient(t, { queues: [testQueue("unchecked")], connectionString });
  const { listen } = mq.queue("unchecked");
  for (const register of [listen, listen.each] as ((handler: unknown, options?: unknown) => unknown)[]) {
    const noFunction = {
      code: "ERR_CLIENT_OPTIONS",
      message: /"unchecked": the handler must be a function, found undefined/,
    };
    assert.throws(() => register(undefined), noFunction);
    const misspelt = { code: "ERR_CLIENT_OPTIONS", message: /"concurency" is no option; did you mean "concurrency"\?/ };
    assert.throws(() => register(() => undefined, { concurency: 2 }), misspelt);
  }
  assert.throws(() => createRuntime({ queues: [], pollms: 5 } as never), {
    code: "ERR_CLIENT_OPTIONS",
    message: /"pollms" is no option; did you mean "pollMs"\?/,
  });
});

test("Q6 a stopped listener lets its handler end, keeps the backlog, and may be replaced", async (t) => {
  const mq = testClient(t, { queues: [testQueue("q6")], connectionString, pollMs: 600_000 });
  await mq.start();
  let calls = 0;
  let end: () => void = () => undefined;
  const listener = mq.queue("q6").listen(
    () =>
      new Promise<void>((resolve) => {
        calls += 1;
        end = resolve;
      }),
  );
  await Promise.all([mq.queue("q6").publish({ n: 1 }), nextEvent(mq, "claimed")]);
  const stopped = listener.stop();
  await mq.queue("q6").publish({ n: 2 }, { alone: true });
  end();
  await stopped;
  await listener.stop();
  assert.equal(calls, 1);
  assert.equal((await batchesOf(pool, "q6")).length, 1);
  mq.queue("q6").listen(() => {
    calls += 1;
  });
  await eventually(() => calls === 2);
});

test("a schema that was never migrated is an error at once, and the same client may start later", async (t) => {
  const mq = testClient(t, { queues: [], connectionString: empty.connectionString });
  await assert.rejects(mq.start(), { code: "ERR_NOT_MIGRATED" });
  await assert.rejects(mq.start(), { code: "ERR_NOT_MIGRATED" });
  const nowhere = testClient(t, { queues: [testQueue("nowhere")] });
  await assert.rejects(nowhere.start(), { code: "ERR_NO_DATABASE" });
  await assert.rejects(nowhere.queue("nowhere").publish({ n: 1 }), { code: "ERR_NO_DATABASE" });
});

test("M7 health says what is up, and events tell what happens", async (t) => {
  const mq = testClient(t, { queues: [testQueue("m7")], connectionString, pollMs: 600_000 });
  assert.deepEqual(mq.health(), { ok: false, listener: "not started", bufferDepth: 0 });
  const order: string[] = [];
  for (const name of ["published", "claimed", "handled", "listenerUp"] as const) mq.on(name, () => order.push(name));
  // M3 a subscriber that throws breaks nothing.
  mq.on("claimed", () => {
    throw new Error("a subscriber's own");
  });
  const errors = heard(mq, "error");
  let during: ReturnType<typeof mq.health> | undefined;
  mq.queue("m7").listen(() => {
    during = mq.health();
  });
  await mq.start();
  await eventually(() => mq.health().ok);
  await Promise.all([mq.queue("m7").publish({ n: 1 }), nextEvent(mq, "handled")]);
  // The notification may be heard before the answer to the publish itself.
  assert.deepEqual(
    order.filter((name) => name !== "published"),
    ["listenerUp", "claimed", "handled"],
  );
  assert.ok(order.includes("published"));
  assert.deepEqual([during?.ok, during?.listener], [true, "up"]);
  assert.ok((during?.oldestInFlightMs ?? -1) >= 0);
  assert.ok(during?.lastRoundAt instanceof Date);
  assert.deepEqual(
    errors.map(({ part }) => part),
    ["subscriber of claimed"],
  );
});
