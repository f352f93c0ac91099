/** P14: what is delayed or retried comes within 250 ms of its time with `pollMs` at a minute, whatever the node's clock says. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import test from "node:test";
import { testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { startProcess } from "../support/processes.js";
import { testQueue } from "../support/queue-definition.js";

const { connectionString } = await testDatabase();
const delayMs = 400;
const withinMs = 250;
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
      await worker.waitFor("handling");
      late.push(Math.round(performance.now() - since - delayMs));
    };
    for (let n = 0; n < 3; n += 1) {
      const before = performance.now();
      await publish({ n }, { delayMs });
      await inTime(before);
    }
    for (let n = 3; n < 6; n += 1) {
      await publish({ n, text: "fail" });
      await worker.waitFor("handling");
      await inTime(performance.now());
    }
    t.diagnostic(`late by ${late.join(", ")} ms`);
    assert.ok(
      late.every((ms) => ms >= -20),
      `too early: ${late.join()}`,
    );
    // The machine's own hiccups are not the node's: one in six may be one.
    assert.ok(late.filter((ms) => ms > withinMs).length <= 1, `too late: ${late.join()}`);
  });
}
