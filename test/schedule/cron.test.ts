/** J6: occurrences, seconds, time zones, and daylight saving in Europe/Berlin both ways. */
import assert from "node:assert/strict";
import test from "node:test";
import { cronFault, dueOccurrences, nextOccurrence } from "../../src/queue/cron.js";

const berlin = (cron: string) => ({ cron, timeZone: "Europe/Berlin" });

function occurrences(cron: string, after: string, count: number): readonly string[] {
  const found: string[] = [];
  for (let at = new Date(after); found.length < count; ) {
    at = nextOccurrence(berlin(cron), at) ?? assert.fail();
    found.push(at.toISOString().slice(0, 16));
  }
  return found;
}

test("J6 spring in Berlin: an hourly schedule keeps its hours, 02:30 comes at 03:00 on the day that has no 02:30", () => {
  // 2026-03-29, 02:00 becomes 03:00.
  assert.deepEqual(occurrences("0 * * * *", "2026-03-28T23:30:00Z", 4), [
    "2026-03-29T00:00",
    "2026-03-29T01:00",
    "2026-03-29T02:00",
    "2026-03-29T03:00",
  ]);
  assert.deepEqual(occurrences("30 2 * * *", "2026-03-27T23:30:00Z", 3), [
    "2026-03-28T01:30",
    "2026-03-29T01:00",
    "2026-03-30T00:30",
  ]);
});

test("J6 autumn in Berlin: an hourly schedule comes in both passes of the hour, 02:30 only in the first", () => {
  // 2026-10-25, 03:00 becomes 02:00.
  assert.deepEqual(occurrences("0 * * * *", "2026-10-24T22:30:00Z", 5), [
    "2026-10-24T23:00",
    "2026-10-25T00:00",
    "2026-10-25T01:00",
    "2026-10-25T02:00",
    "2026-10-25T03:00",
  ]);
  assert.deepEqual(occurrences("30 2 * * *", "2026-10-23T22:30:00Z", 3), [
    "2026-10-24T00:30",
    "2026-10-25T00:30",
    "2026-10-26T01:30",
  ]);
});

test("J6 six fields begin with seconds; what cannot be is told", () => {
  const at = nextOccurrence({ cron: "*/20 * * * * *", timeZone: "UTC" }, new Date("2026-01-01T00:00:00Z"));
  assert.equal(at?.toISOString(), "2026-01-01T00:00:20.000Z");
  assert.equal(cronFault(berlin("*/5 * * * *")), undefined);
  assert.equal(cronFault(berlin("* * *"))?.key, "cron");
  assert.match(cronFault(berlin("61 * * * *"))?.message ?? "", /minute: 61/);
  assert.match(cronFault(berlin("0 0 31 2 *"))?.message ?? "", /never comes again/);
  assert.equal(cronFault({ cron: "* * * * *", timeZone: "Mars/Base" })?.key, "timeZone");
});

test("J6 catch-up is bounded: what is a minute late or less is stored, of the rest the newest, however long nobody looked", () => {
  const due = (cron: string, from: string, now: string, catchUp: number) =>
    dueOccurrences({ cron, timeZone: "UTC" }, { from: new Date(from), now: new Date(now), catchUp }).map((at) =>
      at.toISOString().slice(11, 19),
    );
  const hourly = "0 * * * *";
  assert.deepEqual(due(hourly, "2026-01-01T05:00:00Z", "2026-01-01T05:00:00Z", 0), ["05:00:00"]);
  assert.deepEqual(due(hourly, "2026-01-01T01:00:00Z", "2026-01-01T05:30:00Z", 0), []);
  assert.deepEqual(due(hourly, "2026-01-01T01:00:00Z", "2026-01-01T05:30:00Z", 1), ["05:00:00"]);
  assert.deepEqual(due(hourly, "2026-01-01T01:00:00Z", "2026-01-01T05:30:00Z", 3), [
    "03:00:00",
    "04:00:00",
    "05:00:00",
  ]);
  assert.deepEqual(due(hourly, "2026-01-01T04:00:00Z", "2026-01-01T05:00:30Z", 1), ["05:00:00"]);
  assert.deepEqual(due(hourly, "2026-01-01T04:00:00Z", "2026-01-01T05:00:30Z", 9), ["04:00:00", "05:00:00"]);
  const begun = performance.now();
  assert.equal(due("* * * * * *", "1990-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 100).length, 100);
  assert.equal(due("* * * * * *", "1990-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 0).length, 60);
  assert.ok(performance.now() - begun < 2_000);
});
