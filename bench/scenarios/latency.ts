/** From publish to handler across processes: two idle consumers, one publisher, at a steady rate. */
import pg from "pg";
import { createClient } from "../../generated/index.js";
import { now, startConsumer } from "../consumers/consumer.js";
import { percentile } from "../measure.js";
import { order } from "../order.js";
import type { Bench, Comparison, Contender, Scenario } from "../scenario.js";

const rates = [10, 100, 1_000];

export const scenario: Scenario = {
  name: "latency",
  description: "publish to handler in another process, two idle consumers, one publisher",
  prepare: async (bench) => {
    const plain = await preparePlain(bench);
    return rates.map((rate, index): Comparison => {
      const last = index === rates.length - 1;
      return {
        title: `${rate} messages a second, p50`,
        unit: "ms",
        better: "less",
        promises: { postrider: 1.5 },
        contenders: [plainContender(bench, plain, rate, last), ourContender(bench, rate)],
      };
    });
  },
};

async function preparePlain({ connectionString }: Bench): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString, max: 10 });
  pool.on("error", () => undefined);
  await pool.query(
    "create table plain_queue (id bigint generated always as identity primary key, payload text not null, sent_at text not null)",
  );
  return pool;
}

function plainContender(bench: Bench, pool: pg.Pool, rate: number, last: boolean): Contender {
  return contender({
    name: "plain SQL: INSERT with NOTIFY, DELETE … SKIP LOCKED",
    bench,
    rate,
    file: "plain.ts",
    // One statement and so one transaction, as few round trips as plain SQL can do with.
    send: (number) =>
      pool.query(
        "with sent as (select pg_notify('plain_queue', '')) insert into plain_queue (payload, sent_at) select $1, $2 from sent",
        [JSON.stringify([order(number)]), now()],
      ),
    close: async () => {
      if (last) await pool.end();
    },
  });
}

function ourContender(bench: Bench, rate: number): Contender {
  const client = createClient({ connectionString: bench.connectionString });
  return contender({
    name: "postrider",
    bench,
    rate,
    file: "postrider.ts",
    send: (number) => client.publishTo.orderPlaced(order(number), { headers: { sentAt: now() } }),
    close: () => client.stop(),
  });
}

interface ContenderParams {
  readonly name: string;
  readonly bench: Bench;
  readonly rate: number;
  readonly file: string;
  readonly send: (number: number) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

function contender({ name, bench, rate, file, send, close }: ContenderParams): Contender {
  return {
    name,
    close,
    // Consumers of their own for every measurement: idle ones of the other contender would still answer its notifications.
    measure: async () => {
      const consumers = await Promise.all([1, 2].map(() => startConsumer(file, bench.connectionString)));
      const sent = await sendSteadily(rate, Math.max(bench.measureMs, 20_000 / rate), send);
      const latencies: number[] = [];
      while (latencies.length < sent) {
        for (const consumer of consumers) latencies.push(...(await consumer.latencies()));
      }
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      bench.note(
        `${name}, ${rate}/s: ${sent} messages, p50 ${percentile(latencies, 0.5).toFixed(2)} ms, p99 ${percentile(latencies, 0.99).toFixed(2)} ms`,
      );
      return percentile(latencies, 0.5);
    },
  };
}

async function sendSteadily(rate: number, ms: number, send: (number: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const sending: Promise<unknown>[] = [];
  while (performance.now() - startedAt < ms) {
    const due = Math.floor(((performance.now() - startedAt) * rate) / 1_000);
    while (sending.length <= due) sending.push(send(sending.length));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(sending);
  return sending.length;
}
