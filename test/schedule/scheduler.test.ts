/** J6: three nodes store each occurrence once, late ones within bounds; what is gone from the settings is gone. */
import assert from "node:assert/strict";
import { onBothBackends } from "../support/both-backends.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";

const db = await testDatabase();
const everySecond = { cron: "* * * * * *", message: { n: 7 } };

onBothBackends(
  db,
  "J6 three nodes store each occurrence once, none before its time, none left to the next look or poll",
  async (_, on) => {
    const queues = [testQueue("ticking", { schedule: [everySecond] })];
    const seen: { n: number; at: string; lateMs: number }[] = [];
    for (let node = 0; node < 3; node += 1) {
      const mq = on.client({ queues, pollMs: 60_000 });
      mq.queue("ticking").listen.each((message, { headers }) => {
        const at = headers["scheduled-at"] ?? "";
        seen.push({ n: (message as TestMessage).n, at, lateMs: Date.now() - Date.parse(at) });
      });
      await mq.start();
    }
    await eventually(() => seen.length >= 4);
    const times = seen.map(({ at }) => at);
    assert.equal(new Set(times).size, times.length, times.join());
    const seconds = times.map((at) => Date.parse(at) / 1_000);
    assert.deepEqual(
      seconds,
      seconds.map((_, index) => (seconds[0] ?? 0) + index),
      "in order, and none is left out",
    );
    assert.deepEqual(new Set(seen.map(({ n }) => n)), new Set([7]));
    // One machine has one clock. Without a timer for the next one a look comes after 24 s at the earliest, a poll after 48 s.
    const late = seen.map(({ lateMs }) => lateMs);
    assert.ok(
      late.every((ms) => ms >= 0 && ms < 20_000),
      late.join(),
    );
  },
);

onBothBackends(
  db,
  "J6 schedules are listed, keep their place, and go when the newest version has none",
  async (_, on) => {
    const schedule = [{ cron: "0 0 1 1 *", timeZone: "Europe/Berlin", message: { n: 1 }, catchUp: 5 }];
    const start = async (options: Readonly<Record<string, unknown>>) => {
      const mq = on.client({ queues: [testQueue("listed", options)] });
      await mq.start();
      return await mq.inspect.schedules().then((all) => all.filter(({ queue }) => queue === "listed"));
    };
    const [view] = await start({ schedule, version: 2 });
    assert.deepEqual(
      [view?.cron, view?.timeZone, view?.catchUp, view?.payload],
      ["0 0 1 1 *", "Europe/Berlin", 5, '[{"n":1}]'],
    );
    assert.match(view?.nextAt?.toISOString() ?? "", /-12-31T23:00:00.000Z$/);
    assert.equal((await start({ version: 1 })).length, 1, "an older version changes nothing");
    assert.deepEqual(await start({ version: 3 }), []);
  },
);

onBothBackends(db, "J6 a message that does not fit its queue keeps the node from starting", async (_, on) => {
  const mq = on.client({ queues: [testQueue("unfit", { schedule: [{ cron: "* * * * *", message: { n: "x" } }] })] });
  await assert.rejects(mq.start(), { code: "ERR_QUEUE_OPTIONS", message: /schedule "\* \* \* \* \*".*\/n/ });
});
