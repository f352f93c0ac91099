/** J2, J7: what `mq.inspect` and a queue's own access show, remove and put back. */
import assert from "node:assert/strict";
import { onBothBackends } from "../support/both-backends.js";
import { nextEvent } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { testQueue } from "../support/queue-definition.js";

const db = await testDatabase();

onBothBackends(
  db,
  "J2 size counts, clear and cancel remove what waits and say so, what is in flight stays",
  async (_, on) => {
    const mq = on.client({ queues: [testQueue("upkeep")] });
    const access = mq.queue("upkeep");
    await access.publish({ n: 0 });
    const [out] = await access.pull();
    const { batchId } = await access.publish({ n: 1 }, { delayMs: 3_600_000 });
    await access.publish({ n: 2 }, { priority: 1 });
    await access.publish({ n: 3 }, { priority: 2 });
    assert.deepEqual(await access.size(), { pending: 2, delayed: 1, processing: 1 });
    assert.deepEqual(
      (await mq.inspect.peek("upkeep")).map(({ payload }) => payload),
      ['[{"n":2}]', '[{"n":3}]'],
    );
    assert.equal(await access.cancel({ batchId }), true);
    assert.equal(await access.cancel({ batchId }), false);
    assert.equal(await access.cancel({ batchId: out?.batchId ?? "" }), false);
    assert.equal(await access.clear(), 2);
    assert.deepEqual(await access.size(), { pending: 0, delayed: 0, processing: 1 });
    assert.equal(await out?.ack(), true);
  },
);

onBothBackends(db, "J2 cancel by key: the values at the pointers of `unique`", async (_, on) => {
  const unique = (...by: string[]) => ({ unique: { by, whileIn: ["pending"], onConflict: "skip" } }) as const;
  const queues = [testQueue("one", unique("/n")), testQueue("two", unique("/n", "/text")), testQueue("none")];
  const mq = on.client({ queues });
  const [one, two, none] = [mq.queue("one"), mq.queue("two"), mq.queue("none")];
  await one.publish({ n: 1e21 });
  await two.publish({ n: 1, text: 'x, "y"' });
  assert.equal(await one.cancel({ key: 2 }), false);
  assert.equal(await one.cancel({ key: 1e21 }), true);
  assert.equal(await two.cancel({ key: [1, "x"] }), false);
  assert.equal(await two.cancel({ key: [1, 'x, "y"'] }), true);
  const code = "ERR_UNIQUE_KEY";
  await assert.rejects(none.cancel({ key: 1 }), { code, message: /"none".*has no `unique`/ });
  await assert.rejects(two.cancel({ key: 1 }), { code, message: /values at \/n, \/text, found number/ });
  await assert.rejects(two.cancel({ key: [1] }), { code, message: /found 1 values/ });
  await assert.rejects(one.cancel({ key: undefined }), { code, message: /value at \/n, found undefined/ });
});

onBothBackends(
  db,
  "J2 redrive: by filter and limit, with progress, keeping ids, first publish time and history",
  async (_, on) => {
    const mq = on.client({ queues: [testQueue("redriven", { maxAttempts: 1 })] });
    const access = mq.queue("redriven");
    const { batchId } = await access.publish({ n: 0 });
    const [first] = await access.pull();
    await first?.fail(new Error("first death"));
    assert.equal((await mq.inspect.redrive("redriven", { reasons: ["schema"] })).done, 0);
    assert.deepEqual(await mq.inspect.redrive("redriven"), { done: 1, total: 1, complete: true });
    const [again] = await access.pull();
    assert.deepEqual([again?.ids, again?.publishedAt, again?.attempt], [[`${batchId}.0`], first?.publishedAt, 1]);
    await again?.fail(new Error("second death"));
    const [letter] = await mq.inspect.dead("redriven");
    assert.match(letter?.error ?? "", /second death/);
    assert.deepEqual(
      letter?.history.map(({ reason, error, failures }) => [reason, error?.split("\n")[0], failures]),
      [["attempts", "Error: first death", 1]],
    );
    for (let n = 1; n < 6; n += 1) {
      await access.publish({ n });
      await (await access.pull())[0]?.fail(new Error("dead"));
    }
    const seen: number[] = [];
    const stop = new AbortController();
    const onProgress = ({ done, total }: { done: number; total: number }) => {
      seen.push(done, total);
      if (done === 2) stop.abort();
    };
    const stopped = await mq.inspect.redrive("redriven", { ratePerSecond: 10, onProgress, signal: stop.signal });
    assert.deepEqual([stopped, seen], [{ done: 2, total: 6, complete: false }, [1, 6, 2, 6]]);
    assert.equal((await mq.inspect.redrive("redriven", { limit: 1 })).done, 1);
    assert.deepEqual(await mq.inspect.purge("redriven", { deadIds: ["9007199254740993"] }), {
      done: 0,
      total: 0,
      complete: true,
    });
    assert.deepEqual(await mq.inspect.purge("redriven"), { done: 3, total: 3, complete: true });
    await assert.rejects(mq.inspect.redrive("redriven", { limit: -1 }), { code: "ERR_CLIENT_OPTIONS" });
  },
);

onBothBackends(db, "J2 a redrive keeps to its rate", async (_, on) => {
  const mq = on.client({ queues: [testQueue("rated", { maxAttempts: 1 })] });
  for (let n = 0; n < 12; n += 1) await mq.queue("rated").publish({ n }, { alone: true });
  for (const batch of await mq.queue("rated").pull({ limit: 12 })) await batch.fail(new Error("dead"));
  const begun = performance.now();
  await mq.inspect.redrive("rated", { ratePerSecond: 40 });
  const tookMs = performance.now() - begun;
  // The last portion of four leaves when eight have had their time.
  assert.ok(tookMs >= 195, `${tookMs} ms`);
});

onBothBackends(db, "J7 a paused queue is claimed by nobody; what is in flight goes on; resume wakes", async (t, on) => {
  const queues = [testQueue("paused")];
  const mq = on.client({ queues, pollMs: 60_000 });
  const seen: unknown[] = [];
  let begin = () => {};
  let end = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  t.after(() => end());
  mq.queue("paused").listen(async (messages) => {
    seen.push(...messages);
    begin();
    await ended;
  });
  await mq.start();
  await mq.queue("paused").publish({ n: 1 });
  await begun;
  await on.client({ queues }).inspect.pause("paused");
  assert.equal((await mq.inspect.depths()).find(({ queue }) => queue === "paused")?.paused, true);
  await mq.queue("paused").publish({ n: 2 });
  await mq.queue("paused").publish({ n: 3 }, { delayMs: 1 });
  const handled = nextEvent(mq, "handled");
  end();
  assert.equal((await handled).status, "ok");
  await eventually(async () => (await mq.queue("paused").size()).processing === 0);
  assert.deepEqual(await mq.queue("paused").pull(), []);
  assert.deepEqual(seen, [{ n: 1 }]);
  await on.client({ queues }).inspect.resume("paused");
  await eventually(() => seen.length === 3);
});

onBothBackends(
  db,
  "J2 what cannot be asked for is refused alike, with the value and what is allowed",
  async (_, on) => {
    const { inspect, queue } = on.client({ queues: [testQueue("asked")] });
    const refused = (message: RegExp) => ({ code: "ERR_CLIENT_OPTIONS", message });
    for (const id of ["abc", "-1", "1.5", "", "9223372036854775808"]) {
      const message = new RegExp(`queue "asked": \\w+: expected an id, .* found "${id}"`);
      await assert.rejects(inspect.dead("asked", { deadIds: [id] }), refused(message));
      await assert.rejects(inspect.dead("asked", { afterDeadId: id }), refused(message));
      await assert.rejects(inspect.redrive("asked", { deadIds: [id] }), refused(message));
      await assert.rejects(inspect.purge("asked", { deadIds: [id] }), refused(message));
      await assert.rejects(queue("asked").cancel({ batchId: id }), refused(message));
    }
    await assert.rejects(inspect.peek("asked", { limit: -1 }), refused(/limit must be a whole number .* found -1/));
    await assert.rejects(inspect.dead("asked", { limit: 0.5 }), refused(/limit must .* found 0.5/));
    await assert.rejects(
      inspect.peek("asked", { status: "dead" as never }),
      refused(/"pending", "delayed".* found "dead"/),
    );
    await assert.rejects(
      inspect.dead("asked", { reasons: ["bad" as never] }),
      refused(/"attempts", "crash".* found "bad"/),
    );
    assert.deepEqual(await inspect.dead("asked", { deadIds: ["9223372036854775807"], limit: 0 }), []);
  },
);
