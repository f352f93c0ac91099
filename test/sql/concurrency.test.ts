/**
 * Eight processes on a few rows. The database itself watches: a unique index refuses a second batch in flight of an exclusive
 * queue, a trigger a second lease on a batch. Short in the suite; POSTRIDER_CONCURRENCY_MS=60000 for the long form.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { PostgresBackend as Backend } from "../../src/backend/postgres/postgres-backend.js";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { Subject } from "../../src/testing/testing.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { startProcess } from "../support/processes.js";

const durationMs = Number(process.env.POSTRIDER_CONCURRENCY_MS ?? 8_000);
const processes = 8;
const maxInFlight = 3;
const db = await testDatabase();

const watching = `
  create unique index one_in_flight on postrider.queue_message_batch (queue_name)
    where status = 'processing' and queue_name like 'exclusive%';
  create unique index one_in_line on postrider.queue_message_batch (queue_name, order_key)
    where status = 'processing' and queue_name like 'ordered%';
  create function public.watch() returns trigger language plpgsql as $$
  begin
    if old.status = 'processing' and new.status = 'processing' and old.claim_token <> new.claim_token then
      raise exception 'batch % was leased twice', old.id;
    end if;
    if new.queue_name like 'ordered%' and old.status <> 'processing' and new.status = 'processing' and exists (
      select from postrider.queue_message_batch b
       where b.queue_name = new.queue_name and b.order_key = new.order_key
         and (coalesce(b.origin_id, b.id), b.id) < (coalesce(new.origin_id, new.id), new.id))
    then
      raise exception 'batch % came before an older one of its key', new.id;
    end if;
    return new;
  end $$;
  create trigger watch before update on postrider.queue_message_batch for each row execute function public.watch();`;

describe(`${processes} processes for ${durationMs} ms`, () => {
  const queues = [
    "plain a",
    "plain b",
    "exclusive a",
    "exclusive b",
    "exclusive c",
    "ordered a",
    "ordered b",
    "limited a",
  ];
  let mostInFlight = 0;
  const sum = { published: 0, claimed: 0, lateRefused: 0, lateAccepted: 0, recovered: 0, lost: 0 };
  const published: string[] = [];
  const acked: string[] = [];
  const deadSaid: string[] = [];
  const errors: string[] = [];
  let backend: Backend;

  before(async () => {
    backend = new PostgresBackend({ connectionString: db.connectionString });
    const subject = new Subject(backend);
    for (const queue of queues) {
      const kind = {
        exclusive: queue.startsWith("exclusive"),
        ...(queue.startsWith("ordered") ? { orderBy: { by: "/k", onFailure: "block" as const } } : {}),
        ...(queue.startsWith("limited") ? { maxInFlight } : {}),
      };
      await subject.register({ ...kind, maxAttempts: 4, staleAfterMs: 150 }, queue);
    }
    await db.pool.query(watching);
    // More rounds in the time, more of them at once.
    await db.pool.query(`alter database ${db.name} set synchronous_commit = off`);
    const workers = Array.from({ length: processes }, (_, index) =>
      startProcess(new URL("./concurrency-worker.ts", import.meta.url), {
        args: [db.connectionString, `node ${index}`, String(durationMs), queues.join()],
      }),
    );
    const looking = setInterval(() => {
      void db.pool
        .query(
          "select count(*)::int as n from postrider.queue_message_batch where queue_name = 'limited a' and status = 'processing'",
        )
        .then(({ rows }) => {
          mostInFlight = Math.max(mostInFlight, rows[0]?.n);
        });
    }, 5);
    for (const worker of workers) {
      const done = await worker.waitFor("done", durationMs + 30_000);
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += (done.counts as typeof sum)[key];
      published.push(...(done.published as string[]));
      acked.push(...(done.acked as string[]));
      deadSaid.push(...(done.dead as string[]));
      if (done.error !== null) errors.push(done.error as string);
      worker.send({ name: "goodbye" });
    }
    clearInterval(looking);
    await Promise.all(workers.map(({ ended }) => ended));
  });
  after(() => backend.close());

  it("E1, R1: no deadlock, no second lease, no second batch of an exclusive queue in flight", (t) => {
    t.diagnostic(JSON.stringify(sum));
    assert.deepEqual(errors, []);
    assert.ok(sum.claimed > 100 && sum.recovered > 10, JSON.stringify(sum));
  });

  it("J11: never more in flight than maxInFlight, and as many as that", () => {
    assert.equal(mostInFlight, maxInFlight);
  });

  it("R1: every late write was refused", () => {
    assert.equal(sum.lateAccepted, 0);
    assert.ok(sum.lateRefused > 0, JSON.stringify(sum));
  });

  it("D4, R4: every message is acknowledged once, or dead once, or left, and never two of these", async () => {
    const stored = `select coalesce(origin_id, %) || '.' || place as id from postrider.%, unnest(coalesce(positions,
      array(select generate_series(0, json_array_length(payload::json) - 1)))) place`;
    const ask = async (id: string, table: string) =>
      (await db.pool.query<{ id: string }>(stored.replace("%", id).replace("%", table))).rows.map((row) => row.id);
    const left = await ask("id", "queue_message_batch");
    const dead = await ask("batch_id", "dead_message_batch");
    const missing = deadSaid.filter((id) => !dead.includes(id));
    assert.deepEqual(missing, [], "said to be dead");
    const all = [...acked, ...dead, ...left];
    assert.equal(new Set(all).size, all.length, "a message is in two places");
    assert.deepEqual(all.sort(), published.sort());
  });

  it("J10, J11: nothing is stuck: what is left can be claimed to the last", async () => {
    const subject = new Subject(backend);
    const unfinished = async () => {
      const { rows } = await db.pool.query("select count(*)::int as n from postrider.queue_message_batch");
      return rows[0]?.n as number;
    };
    await eventually(
      async () => {
        const { batches } = await subject.poll(queues, { maintain: true, recover: true, orphans: true });
        await backend.ack(batches);
        return (await unfinished()) === 0;
      },
      { timeoutMs: 20_000, otherwise: "batches are stuck" },
    );
  });

  it("E2: a slot holds a batch in flight, or none", async () => {
    const { rows } = await db.pool.query(
      `select * from postrider.queue_slot s where batch_id is not null and not exists (
         select from postrider.queue_message_batch b where b.id = s.batch_id and b.status = 'processing')`,
    );
    assert.deepEqual(rows, []);
  });
});
