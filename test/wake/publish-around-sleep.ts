/** The harness of W3: publishes at random moments around nodes falling asleep, with a poll interval that helps nobody. */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Backend } from "../../src/backend/backend.js";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { type Ending, testClient } from "../support/client.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";

/** Settings of {@link publishAroundSleep}. */
export interface AroundSleepOptions {
  readonly connectionString: string;
  readonly pool: pg.Pool;
  readonly queue: string;
  readonly messages: number;
  readonly nodes: number;
  /** Nodes sleep without a last look: between their look and their SLEEP lock nobody sees them, and they see nobody. */
  readonly naive?: boolean;
  /** A message that takes longer is lost, in ms: the run ends with it. */
  readonly lostAfterMs: number;
}

/** What came of it. */
export interface AroundSleep {
  /** How often a node has gone to sleep in earnest: its last look found nothing and nobody who was publishing. */
  readonly sleeps: number;
  /** Longest time from the commit to the handler, in ms. */
  readonly worstMs: number;
  /** What the nodes owed their finds to. */
  readonly sources: Readonly<Record<string, number>>;
  /** The message that did not arrive. */
  readonly lost?: number;
}

export async function publishAroundSleep(t: Ending, options: AroundSleepOptions): Promise<AroundSleep> {
  const { connectionString, pool, queue, messages, lostAfterMs } = options;
  const queues = [testQueue(queue)];
  let sleeps = 0;
  const arrived = new Map<number, () => void>();
  const sources: Record<string, number> = {};
  for (let node = 0; node < options.nodes; node += 1) {
    const backend = new PostgresBackend({ connectionString });
    const watched = watchSleep(backend, options.naive === true, () => {
      sleeps += 1;
    });
    const mq = testClient(t, { queues, backend: watched, pollMs: 600_000 });
    mq.on("woken", ({ source }) => {
      sources[source] = (sources[source] ?? 0) + 1;
    });
    mq.queue(queue).listen((batch) => {
      for (const { n } of batch as TestMessage[]) arrived.get(n)?.();
    });
    await mq.start();
    // The first round of a node looks for no reason but that it starts.
    await eventually(() => mq.health().ok && sleeps > node);
  }
  const publish = waysToPublish(t, { connectionString, pool, queue });
  let worstMs = 0;
  for (let n = 0; n < messages; n += 1) {
    const delivery = new Promise<void>((resolve) => arrived.set(n, resolve));
    await publish[n % publish.length]?.(n);
    const committedAt = performance.now();
    const lost = new AbortController();
    const late = sleep(lostAfterMs, "late", { signal: lost.signal }).catch(() => undefined);
    const outcome = await Promise.race([delivery, late]);
    lost.abort();
    if (outcome === "late") return { sleeps, worstMs, sources, lost: n };
    worstMs = Math.max(worstMs, performance.now() - committedAt);
    arrived.delete(n);
    // The node falls asleep within this time or does not: the next publish meets every step of it.
    if (Math.random() < 0.8) await sleep(Math.random() * 6);
  }
  return { sleeps, worstMs, sources };
}

// By turns: the library, a plain statement, a transaction that stays open for a while with the row in it, one of the library's.
function waysToPublish(
  t: Ending,
  { connectionString, pool, queue }: Pick<AroundSleepOptions, "connectionString" | "pool" | "queue">,
): readonly ((n: number) => Promise<unknown>)[] {
  const publisher = testClient(t, { queues: [testQueue(queue)], connectionString });
  const bySql = (client: Pick<pg.Pool, "query">, n: number) =>
    client.query("select postrider.publish($1, format('[{\"n\":%s}]', $2::int))", [queue, n]);
  return [
    (n) => publisher.queue(queue).publish({ n }),
    (n) => bySql(pool, n),
    async (n) => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        await bySql(client as unknown as pg.Pool, n);
        await sleep(Math.random() * 8);
        await client.query("commit");
      } finally {
        client.release();
      }
    },
    (n) => publisher.transaction(() => publisher.queue(queue).publish({ n })),
  ];
}

function watchSleep(backend: PostgresBackend, naive: boolean, onSleep: () => void): Backend {
  const poll: Backend["poll"] = async (request) => {
    const result =
      naive && request.fallingAsleep ? { batches: [], recovered: [], publishing: false } : await backend.poll(request);
    if (request.fallingAsleep && result.batches.length === 0 && !result.publishing) onSleep();
    return result;
  };
  return new Proxy(backend, {
    get: (target, key) => {
      if (key === "poll") return poll;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
