/** R3: when a node stops trusting leases that it cannot prolong. The clock is the test's. */
import assert from "node:assert/strict";
import test from "node:test";
import { InFlight } from "../../src/deliver/in-flight.js";

const lease = (id: string) => ({ queue: "q", id, token: `token-${id}` });

test("R3 handlers are aborted two seconds before others may take the batch, or at half of a short time", (t) => {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const inFlight = new InFlight();
  const [long, short] = [new AbortController(), new AbortController()];
  inFlight.hold(lease("long"), 8_000, long);
  inFlight.hold(lease("short"), 3_000, short);
  assert.equal(inFlight.fence(), 1_500);
  now += 1_000;
  const kept = new Map([["token-short", "kept"]] as const);
  assert.deepEqual(inFlight.apply([lease("short")], kept, now), []);
  assert.equal(inFlight.fence(), 1_500, "a heartbeat begins the time anew");
  now += 1_500;
  assert.equal(inFlight.fence(), 3_500);
  assert.deepEqual([long.signal.aborted, short.signal.aborted], [false, true]);
  now += 3_500;
  assert.equal(inFlight.fence(), Number.POSITIVE_INFINITY);
  assert.deepEqual([long.signal.aborted, inFlight.isExcused(lease("long"))], [true, true], "and fails nothing");
});

test("R3 a heartbeat counts from when it was asked, not from when the answer came", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const inFlight = new InFlight();
  inFlight.hold(lease("1"), 8_000, new AbortController());
  now = 4_000;
  inFlight.apply([lease("1")], new Map([["token-1", "kept"]]), 1_000);
  assert.equal(inFlight.fence(), 3_000);
});
