/** J4, J5: chains through a client, on both backends. */
import assert from "node:assert/strict";
import test from "node:test";
import { onBothBackends } from "../support/both-backends.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";

const db = await testDatabase();

onBothBackends(
  db,
  "J4, J5 steps run one after another, with their options, and the chain's progress is the whole's",
  async (_, on) => {
    const queues = [testQueue("chain-a", { exclusive: true }), testQueue("chain-b", { dedup: { by: ["/n"] } })];
    const mq = on.client({ queues, dedup: { "chain-b": () => [] } });
    const seen: string[] = [];
    const told: boolean[] = [];
    let inTheMiddle: number | undefined;
    for (const name of ["chain-a", "chain-b"]) {
      mq.queue(name).listen.each(async (message, { headers, progress }) => {
        const { n } = message as TestMessage;
        seen.push(`${name} ${n} ${headers.h ?? ""}`);
        told.push(await progress(50, `step ${n}`));
        if (n === 2) inTheMiddle = (await mq.progress.get(`chain:${chain.chainId}`))?.percent;
      });
    }
    const { publish: toA } = mq.queue("chain-a");
    const { publish: toB } = mq.queue("chain-b");
    const steps = [
      toA.step({ n: 1 }),
      toB.step({ n: 2 }, { headers: { h: "v" } }),
      toB.step({ n: 2 }),
      toA.step({ n: 4 }, { delayMs: 5 }),
    ];
    const chain = await mq.chain(steps);
    const followed: (readonly [number, string | undefined, string])[] = [];
    const following = (async () => {
      for await (const { percent, stage, state } of mq.progress.follow(`chain:${chain.chainId}`, { pollMs: 20 })) {
        followed.push([percent, stage, state]);
      }
    })();
    await mq.start();
    await following;
    assert.deepEqual(seen, ["chain-a 1 ", "chain-b 2 v", "chain-b 2 ", "chain-a 4 "]);
    assert.deepEqual([inTheMiddle, followed.at(-1)], [62.5, [100, "step 4", "finished"]]);
    assert.deepEqual(told, [true, true, true, true]);
    assert.deepEqual(
      followed.map(([percent]) => percent),
      followed.map(([percent]) => percent).toSorted((x, y) => x - y),
    );
  },
);

onBothBackends(db, "J4, T1 a chain begun in a transaction begins with its commit, or not at all", async (_, on) => {
  const mq = on.client({ queues: [testQueue("chain-tx", { dedup: { by: ["/n"] } })] });
  const { publish, size } = mq.queue("chain-tx");
  const begin = () => mq.chain([publish.step({ n: 1 }), publish.step({ n: 2 })]);
  const lost = mq.transaction(async () => {
    await begin();
    throw new Error("rolled back");
  });
  await assert.rejects(lost, /rolled back/);
  assert.equal((await size()).pending, 0);
  await mq.transaction(async () => {
    await begin();
    await begin();
    assert.equal((await size()).pending, 0);
  });
  assert.equal((await size()).pending, 2, "neither is a repeat of the other");
});

onBothBackends(
  db,
  "J4 a step that dies shows what follows it, and the chain goes on when it is redriven",
  async (_, on) => {
    const mq = on.client({ queues: [testQueue("chain-dies", { maxAttempts: 1 }), testQueue("chain-ends")] });
    const { chainId } = await mq.chain([
      mq.queue("chain-dies").publish.step({ n: 1 }),
      mq.queue("chain-ends").publish.step({ n: 2, text: "\u0000" }),
    ]);
    const ended: unknown[] = [];
    let healthy = false;
    mq.queue("chain-dies").listen(() => {
      if (!healthy) throw new Error("not yet");
    });
    mq.queue("chain-ends").listen((messages) => ended.push(...messages));
    await mq.start();
    await eventually(async () => (await mq.inspect.dead("chain-dies")).length === 1);
    const [letter] = await mq.inspect.dead("chain-dies");
    assert.deepEqual(letter?.chain, {
      id: chainId,
      step: 1,
      steps: 2,
      remaining: [{ queue: "chain-ends", payload: '[{"n":2,"text":"\\u0000"}]' }],
    });
    assert.equal((await mq.progress.get(`chain:${chainId}`))?.state, "failed");
    healthy = true;
    await mq.inspect.redrive("chain-dies");
    await eventually(async () => (await mq.progress.get(`chain:${chainId}`))?.state === "finished");
    assert.deepEqual(ended, [{ n: 2, text: "\u0000" }]);
  },
);

onBothBackends(db, "J4 what is no chain is refused before anything is stored", async (_, on) => {
  const queues = [testQueue("chain-refused")];
  const [mq, other] = [on.client({ queues }), on.client({ queues })];
  const { publish } = mq.queue("chain-refused");
  const refused = { code: "ERR_CHAIN" };
  await assert.rejects(mq.chain([]), refused);
  await assert.rejects(
    mq.chain([publish.step({ n: 1 }), other.queue("chain-refused").publish.step({ n: 2 })]),
    refused,
  );
  await assert.rejects(mq.chain([{ queue: "chain-refused" }]), refused);
  await assert.rejects(mq.chain(Array.from({ length: 101 }, (_, n) => publish.step({ n }))), refused);
  assert.throws(() => publish.step({ n: "one" }), { code: "ERR_MESSAGE_INVALID" });
  assert.deepEqual(await mq.queue("chain-refused").size(), { pending: 0, delayed: 0, processing: 0 });
});

test("J4 a chain that raw SQL made up is refused where it is stored: every claim of its queue would fail on it", async () => {
  const insert = "insert into postrider.queue_message_batch (queue_name, payload, chain) values ('raw', '[1]', $1)";
  for (const chain of ["no json", "{}", JSON.stringify({ id: "x".repeat(249) })]) {
    await assert.rejects(
      db.pool.query(insert, [chain]),
      /invalid input syntax for type json|expected JSON with an "id" of 1 to 248 bytes/,
    );
  }
});
