import assert from "node:assert/strict";
import type { DueSchedule, ScheduleEntry } from "../../backend/schedule-book.js";
import type { ConformanceCase } from "./case.js";
import type { Subject } from "./subject.js";

const longAgo = new Date("2001-02-03T04:05:06.789Z");
const minuteLater = new Date("2001-02-03T04:06:00Z");
const never = new Date("2200-01-01T00:00:00Z");

/** Schedules. */
export const scheduleCases: readonly ConformanceCase[] = [
  {
    rule: "J6",
    name: "an occurrence is stored once however many ask, with its time, and the schedule moves on",
    async run(subject) {
      const queue = await subject.register();
      const { schedules } = subject.backend;
      await schedules.keep(queue, 1, [entry("a")]);
      const due = await dueOf(subject, queue);
      // The next one has come too, so only what the callers saw tells them apart.
      const answers = await Promise.all([1, 2, 3].map(() => schedules.occur(due, [longAgo], minuteLater)));
      assert.deepEqual(
        answers.filter((stored) => stored !== undefined),
        [1],
      );
      await subject.assertDepth(queue, { pending: 1 });
      const batch = await subject.claimOne(queue);
      assert.equal(batch.payload, '["tick"]');
      assert.deepEqual(JSON.parse(batch.meta ?? ""), [{ "scheduled-at": longAgo.toISOString() }]);
      const view = (await schedules.list()).find((one) => one.queue === queue);
      assert.deepEqual([view?.nextAt, view?.lastAt, view?.timeZone], [minuteLater, longAgo, "UTC"]);
      assert.equal(await schedules.occur({ ...due, nextAt: minuteLater }, [], never), 0);
      assert.equal(await schedules.occur({ ...due, nextAt: never }, [never], undefined), undefined, "it has not come");
      await schedules.keep(queue, 1, []);
    },
  },
  {
    rule: "J6",
    name: "what stays keeps its place, what is gone from the newest version is removed, an older version changes nothing",
    async run(subject) {
      const queue = await subject.register({ version: 2 });
      const { schedules } = subject.backend;
      const kept = async () => (await schedules.list()).filter((one) => one.queue === queue);
      await schedules.keep(queue, 2, [entry("a"), entry("b")]);
      await schedules.occur(await dueOf(subject, queue, "a"), [], never);
      await schedules.keep(queue, 1, []);
      assert.equal((await kept()).length, 2);
      await schedules.keep(queue, 2, [{ ...entry("a"), catchUp: 3 }]);
      assert.deepEqual(
        (await kept()).map(({ entry, nextAt, catchUp }) => [entry, nextAt, catchUp]),
        [["a", never, 3]],
      );
      await schedules.keep(queue, 2, []);
      assert.deepEqual(await kept(), []);
    },
  },
  {
    rule: "J6",
    name: "the next one that has not come tells how long it will be",
    async run(subject) {
      const queue = await subject.register();
      const { schedules } = subject.backend;
      const soon = new Date((await schedules.now()).getTime() + 5_000);
      await schedules.keep(queue, 1, [{ ...entry("a"), nextAt: soon }]);
      const { nextInMs = 0 } = await schedules.due();
      assert.ok(nextInMs > 0 && nextInMs <= 5_000, `${nextInMs} ms`);
      await schedules.keep(queue, 1, []);
    },
  },
];

function entry(name: string): ScheduleEntry {
  return { entry: name, cron: "* * * * *", timeZone: "UTC", payload: '["tick"]', catchUp: 1, nextAt: longAgo };
}

async function dueOf(subject: Subject, queue: string, name = "a"): Promise<DueSchedule> {
  const { due } = await subject.backend.schedules.due();
  return due.find((one) => one.queue === queue && one.entry === name) ?? assert.fail("it is not due");
}
