/**
 * The database stopped under load and started again: P3, P5, P8. About 5 s, or as `POSTRIDER_OUTAGE_MS` says:
 *
 *   POSTRIDER_OUTAGE_MS=20000 npm test -- test/crash/publisher-outage
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as outage } from "node:timers/promises";
import pg from "pg";
import { migrate } from "../../src/backend/postgres/migrate.js";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";
import type { Runtime } from "../../src/runtime.js";
import { heard, nextEvent, testClient } from "../support/client.js";
import { startProxy } from "../support/proxy.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf } from "../support/stored.js";

const outageMs = Number(process.env.POSTRIDER_OUTAGE_MS ?? 5_000);
const queues = ["first", "second", "third"];
// Of each queue at once: below the bound of the buffer, so that none waits in line.
const outstandingPerQueue = 500;

/** Publishes 0, 1, 2 … until told to stop; resolves with how many, when every one of them is answered. */
async function load(mq: Runtime, queue: string, stop: AbortSignal): Promise<number> {
  const outstanding = new Set<Promise<unknown>>();
  let rejection: unknown;
  let n = 0;
  while (!stop.aborted && rejection === undefined) {
    const answer = mq
      .queue(queue)
      .publish({ n: n++ })
      .catch((error: unknown) => {
        rejection = error;
      })
      .finally(() => outstanding.delete(answer));
    outstanding.add(answer);
    if (outstanding.size >= outstandingPerQueue) await Promise.race(outstanding);
  }
  await Promise.all(outstanding);
  if (rejection !== undefined) throw rejection;
  return n;
}

test(`P3, P5, P8: the database is away for ${outageMs} ms under load`, { timeout: outageMs + 90_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "postrider-outage-"));
  t.after(() => rm(directory, { recursive: true }));
  let server = await startEmbeddedPostgres({ directory });
  t.after(() => server.stop());
  await migrate({ database: { connectionString: server.connectionString } });
  const proxy = await startProxy(server.connectionString);
  t.after(() => proxy.stop());

  const mq = testClient(t, {
    connectionString: proxy.connectionString,
    queues: queues.map((name) => testQueue(name)),
  });
  const unknown = heard(mq, "publishUnknown");
  const dropped = heard(mq, "bufferDropped");
  const stop = new AbortController();
  const loads = Promise.all(queues.map((queue) => load(mq, queue, stop.signal)));
  loads.catch(() => undefined);
  for (const queue of queues) await nextEvent(mq, "published", (event) => event.queue === queue);

  // The worst order: connections are cut with writes on them, before the server knows that it is to stop.
  const openThen = proxy.connections().length;
  await proxy.close();
  proxy.cut();
  await server.stop();
  await outage(outageMs);
  const memory = process.memoryUsage().heapUsed;
  server = await startEmbeddedPostgres({ directory });
  proxy.retarget(server.connectionString);
  const again = Promise.all(queues.map((queue) => nextEvent(mq, "published", (event) => event.queue === queue)));
  await proxy.pass();
  await again;
  stop.abort();
  const published = await loads;
  await mq.stop();

  assert.deepEqual(dropped, []);
  assert.ok(memory < 300 * 1024 * 1024, `${memory} bytes of heap during the outage`);
  assert.ok(unknown.length <= openThen, `${unknown.length} writes unanswered on ${openThen} connections`);
  const pool = new pg.Pool({ connectionString: server.connectionString, max: 1 });
  try {
    for (const [index, queue] of queues.entries()) {
      const numbers = numbersOf(await batchesOf(pool, queue));
      const distinct = [...new Set(numbers)];
      // A set keeps the order of the first time: a repeat comes later.
      assert.deepEqual(
        distinct,
        Array.from({ length: published[index] as number }, (_, n) => n),
        queue,
      );
      const allowed = unknown.filter((event) => event.queue === queue).reduce((sum, { messages }) => sum + messages, 0);
      const repeats = numbers.length - distinct.length;
      assert.ok(repeats <= allowed, `${queue}: ${repeats} messages stored twice, ${allowed} counted as unknown`);
      t.diagnostic(`${queue}: ${distinct.length} messages, ${repeats} stored twice, ${allowed} counted as unknown`);
    }
  } finally {
    await pool.end();
  }
});
