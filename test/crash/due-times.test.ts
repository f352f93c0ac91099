/**
 * P14: what is delayed or retried comes neither before its time nor with the next poll, whatever the node's clock says. By how
 * many milliseconds it is late, the test tells but does not judge: a busy machine's hiccups are not the node's.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import test from "node:test";
import { testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { monotonicMs } from "../support/monotonic.js";
import { startProcess } from "../support/processes.js";
import { testQueue } from "../support/queue-definition.js";

const { connectionString } = await testDatabase();
const delayMs = 400;
/** Far below the worker's poll interval of a minute, and below ten minutes by which the clocks are wrong. */
const withinMs = 40_000;
const folders = existsSync("/usr/lib") ? ["", ...readdirSync("/usr/lib")] : [];
const library = folders.map((name) => `/usr/lib/${name}/faketime/libfaketime.so.1`).find((path) => existsSync(path));
const missing = "libfaketime is not installed (apt-get install faketime)";

const clocks = { right: undefined, "ten minutes fast": "+600s", "ten minutes slow": "-600s" };
for (const [clock, shift] of Object.entries(clocks)) {
  const skip = shift !== undefined && library === undefined ? missing : false;
  test(`P14 delayed and retried messages come in time on a node whose clock is ${clock}`, {
    skip,
    timeout: 60_000,
  }, async (t) => {
    const queue = `due-${clock.replaceAll(" ", "-")}`;
    const faked = { LD_PRELOAD: library, FAKETIME: shift, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    const file = new URL("./due-worker.ts", import.meta.url);
    const args = [connectionString, queue, String(delayMs)];
    const worker = startProcess(file, { args, ...(shift === undefined ? {} : { env: faked }) });
    t.after(async () => void (await worker.kill()));
    const { clock: itsClock } = await worker.waitFor("started");
    const offMs = (itsClock as number) - Date.now();
    assert.ok(Math.abs(offMs - Number.parseInt(shift ?? "0", 10) * 1_000) < 5_000, `its clock is ${offMs} ms off`);
    // Its second look, after which it sleeps for a minute.
    await worker.waitFor("looked");
    const mq = testClient(t, { queues: [testQueue(queue)], connectionString });
    const { publish } = mq.queue(queue);
    const late: number[] = [];
    const inTime = async (since: number) => {
      late.push(Math.round(((await worker.waitFor("handling")).atMs as number) - since - delayMs));
    };
    for (let n = 0; n < 3; n += 1) {
      const before = monotonicMs();
      await publish({ n }, { delayMs });
      await inTime(before);
    }
    for (let n = 3; n < 6; n += 1) {
      await publish({ n, text: "fail" });
      const failed = await worker.waitFor("handling");
      await inTime(failed.atMs as number);
    }
    t.diagnostic(`late by ${late.join(", ")} ms`);
    assert.ok(
      late.every((ms) => ms >= 0),
      `too early: ${late.join()}`,
    );
    assert.ok(
      late.every((ms) => ms < withinMs),
      `too late: ${late.join()}`,
    );
    const sources = worker.messages.filter(({ name }) => name === "woken").map(({ source }) => source);
    assert.ok(!sources.includes("poll"), sources.join());
  });
}
