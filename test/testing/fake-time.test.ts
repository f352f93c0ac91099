/** K1, K2: handlers that wait, retry and hang under a test's own clock. */
import assert from "node:assert/strict";
import test from "node:test";
import { fakeTime, withTestMq } from "../../src/testing/testing.js";
import { testQueue } from "../support/queue-definition.js";

const backoff = { initialMs: 4_000, factor: 1, maxMs: 4_000, jitter: 0 };

test("K2 settled moves a mocked clock as if it waited: what is due runs, retries included, within its limit", async (t) => {
  fakeTime(t);
  let calls = 0;
  const handlers = {
    clock: () => {
      calls += 1;
      if (calls === 1) throw new Error("the first call fails");
    },
  };
  await withTestMq({ queues: [testQueue("clock", { backoff })], handlers }, async (mq) => {
    await mq.queue("clock").publish({ n: 1 });
    const late = /not idle after 3000 ms: queue "clock": 1 waiting for a retry \(Error: the first call fails\)/;
    await assert.rejects(mq.settled({ timeoutMs: 3_000 }), late);
    assert.equal(calls, 1);
    await mq.settled();
    assert.equal(calls, 2);
  });
});

// The client's end waited for timers that nobody moved any more, and took every test behind it in the file along.
test("K1 a throw under a mocked clock passes through, also while a handler hangs, and the client ends", async (t) => {
  fakeTime(t);
  const mine = new Error("mine");
  const handlers = { hung: () => new Promise<void>(() => undefined) };
  const running = withTestMq({ queues: [testQueue("hung")], handlers }, async (mq) => {
    await mq.queue("hung").publish({ n: 1 });
    throw mine;
  });
  await assert.rejects(running, (error) => error === mine);
});

test("K1 time is real again after a test that mocked it", async () => {
  let calls = 0;
  const handlers = {
    real: () => {
      calls += 1;
    },
  };
  await withTestMq({ queues: [testQueue("real")], handlers }, async (mq) => {
    await mq.queue("real").publish({ n: 1 });
    await mq.settled();
  });
  assert.equal(calls, 1);
});

test("K1 a backend that is none is refused, and not taken for memory", async () => {
  const options = { queues: [testQueue("none")], backend: "postgre" as never };
  const message = /backend must be "memory", "postgres" or an object, found postgre/;
  await assert.rejects(
    withTestMq(options, () => undefined),
    { code: "ERR_CLIENT_OPTIONS", message },
  );
});
