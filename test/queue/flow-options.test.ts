/** The settings that hold across the cluster, as `x-queue` words them (J9, J10, J11). */
import assert from "node:assert/strict";
import test from "node:test";
import { resolveQueueOptions } from "../../src/queue/options.js";

test("J9, J10: what is not said is filled in", () => {
  const { settings } = resolveQueueOptions({ unique: { by: ["/id"] }, orderBy: "/key", maxInFlight: 3 });
  assert.deepEqual(settings?.unique, { by: ["/id"], whileIn: ["pending"], onConflict: "skip" });
  assert.deepEqual(settings?.orderBy, { by: "/key", onFailure: "block" });
  assert.equal(settings?.maxInFlight, 3);
});

for (const [what, options, pointer, text] of [
  [
    "a key held only while running",
    { unique: { by: ["/a"], whileIn: ["processing"] } },
    "/unique/whileIn",
    /"pending"/,
  ],
  [
    "replacing in a line",
    { orderBy: "/a", unique: { by: ["/a"], onConflict: "replace" } },
    "/unique/onConflict",
    /skip/,
  ],
  ["exclusive and maxInFlight", { exclusive: true, maxInFlight: 2 }, "/maxInFlight", /one of|take off/],
  ["no pointer", { orderBy: "key" }, "/orderBy", /JSON Pointer/],
  ["a rate without its time", { rate: { limit: 1 } }, "/rate", /perMs/],
] as const) {
  test(`J9, J10, J11: ${what} is refused, with its place and what is allowed`, () => {
    const { problems } = resolveQueueOptions(options);
    assert.equal(problems[0]?.pointer, pointer);
    assert.match(problems[0]?.message ?? "", text);
  });
}
