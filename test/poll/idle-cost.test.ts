/** W6: what a node with a thousand queues asks of its database while nothing happens. Counted in fake time, so exactly. */
import assert from "node:assert/strict";
import test from "node:test";
import { MemoryBackend } from "../../src/backend/memory/memory-backend.js";
import { fakeTime } from "../../src/testing/fake-time.js";
import { testClient } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";

/** Counts the calls of a backend and of its inspector: on PostgreSQL each of them is one statement. */
function counted<T extends object>(target: T, calls: Map<string, number>): T {
  return new Proxy(target, {
    get: (_, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === "inspector") return counted(value as object, calls);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls.set(String(key), (calls.get(String(key)) ?? 0) + 1);
        return value.apply(target, args);
      };
    },
  });
}

test("W6 a thousand idle queues cost no more than 60 / pollMs in seconds + 8 statements a minute", async (t) => {
  const minutes = 10;
  const pollMs = 5_000;
  const calls = new Map<string, number>();
  const time = fakeTime(t);
  const queues = Array.from({ length: 1_000 }, (_, index) => testQueue(`idle-${index}`));
  const mq = testClient(t, { queues, backend: counted(new MemoryBackend(), calls), pollMs });
  for (const { name } of queues) mq.queue(name).listen(() => undefined);
  await mq.start();
  // What a start costs is not what idling costs; and an own session that is young looks for no orphans.
  await time.advance(60_000);
  calls.clear();
  await time.advance(minutes * 60_000);
  t.diagnostic(JSON.stringify(Object.fromEntries(calls)));
  assert.deepEqual([...calls.keys()].sort(), ["echo", "gauges", "poll"]);
  const most = { poll: (minutes * 60_000) / pollMs, echo: 6 * minutes, gauges: 2 * minutes };
  for (const [name, count] of calls) assert.ok(count <= most[name as keyof typeof most], `${count} × ${name}`);
  // And it has not fallen asleep altogether.
  assert.ok((calls.get("poll") ?? 0) >= most.poll - 1);
});
