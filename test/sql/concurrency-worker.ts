/**
 * One of the processes of `concurrency.test.ts`: for some seconds it does to a few queues whatever a node may do, at random,
 * several statements at once, and keeps account of every message it published and acknowledged.
 */
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { type Batch, messageId } from "../../src/batch/batch.js";
import { Subject } from "../../src/testing/testing.js";
import { report, told } from "../support/report.js";

const [connectionString = "", owner = "", durationMs = "0", queueList = ""] = process.argv.slice(2);
const queues = queueList.split(",");
const backend = new PostgresBackend({ connectionString, poolSize: 5 });
const subject = new Subject(backend);
const counts = { published: 0, claimed: 0, lateRefused: 0, lateAccepted: 0, recovered: 0, lost: 0 };
const published: string[] = [];
const acked: string[] = [];
const dead: string[] = [];
/** Batches let go without a word, as by a node that was frozen. */
const abandoned: Batch[] = [];

const chance = (share: number) => Math.random() < share;
const some = <T>(list: readonly T[]) => list.filter(() => chance(0.6)).sort(() => Math.random() - 0.5);
const idsOf = (batch: Batch) => (JSON.parse(batch.payload) as unknown[]).map((_, index) => messageId(batch, index));

/** Lines of this process's own, published to by one statement at a time: so their order is known (J10). */
let lastPublish: Promise<void> = Promise.resolve();

function publish(): Promise<void> {
  lastPublish = lastPublish.then(publishSome);
  return lastPublish;
}

async function publishSome(): Promise<void> {
  const batches = some(queues).map((queue) =>
    subject.batch(queue, chance(0.5) ? [1, 2, 3] : [1], {
      priority: chance(0.3) ? 1 : 100,
      ...(queue.startsWith("ordered") ? { orderKey: `${owner} ${chance(0.5)}` } : {}),
    }),
  );
  if (batches.length === 0) return;
  const { ids } = await backend.publish(batches);
  for (const [index, id] of ids.entries()) {
    const { messageCount } = batches[index] ?? { messageCount: 0 };
    for (let place = 0; place < messageCount; place += 1) published.push(`${id}.${place}`);
  }
  counts.published += ids.length;
}

async function ack(batches: readonly Batch[]): Promise<void> {
  const ours = await backend.ack(batches);
  for (const batch of batches) if (ours.has(batch.id)) acked.push(...idsOf(batch));
  counts.lost += batches.length - ours.size;
}

async function fail(batch: Batch): Promise<void> {
  const delayMs = chance(0.5) ? 0 : 5;
  const answer = (await backend.retry([{ lease: batch, delayMs, error: "no" }])).get(batch.id);
  if (answer !== "divide") return;
  const singles = (JSON.parse(batch.payload) as unknown[]).map((message, index) => ({
    payload: JSON.stringify([message]),
    position: batch.positions?.[index] ?? index,
  }));
  await backend.divide({ lease: batch, singles, failure: { delayMs, error: "no" } });
}

/** The first message is done and leaves, or dies; the others stay, leased or as failed. */
async function shrink(batch: Batch): Promise<void> {
  const [first, ...rest] = JSON.parse(batch.payload) as unknown[];
  if (rest.length === 0) return await ack([batch]);
  const places = batch.positions ?? [0, 1, 2];
  const kept = { payload: JSON.stringify(rest), positions: places.slice(1, rest.length + 1) };
  const part = { payload: JSON.stringify([first]), position: places[0] ?? 0, reason: "schema" as const, error: "x" };
  const dies = chance(0.5);
  const answer = await backend.settlePart({
    lease: batch,
    rest: kept,
    dead: dies ? [part] : [],
    ...(chance(0.5) ? { failure: { delayMs: 0, error: "no" } } : {}),
  });
  const [id = ""] = idsOf(batch);
  if (answer !== undefined) (dies ? dead : acked).push(id);
  if (answer === "kept") await ack([{ ...batch, payload: kept.payload, positions: kept.positions }]);
}

async function bury(batch: Batch): Promise<void> {
  const gone = await backend.deadLetter([{ lease: batch, reason: "rejected", error: "no" }]);
  if (gone.has(batch.id)) dead.push(...idsOf(batch));
}

/** What was lost once is lost for ever, whatever is tried. */
async function comeBackLate(): Promise<void> {
  for (const batch of abandoned.splice(0)) {
    if ((await backend.heartbeat([batch])).get(batch.token) !== "lost") {
      await ack([batch]);
      continue;
    }
    const late = [
      (await backend.ack([batch])).size,
      (await backend.retry([{ lease: batch, delayMs: 0, error: "late" }])).size,
      (await backend.release([batch], 0)).size,
      (await backend.settlePart({ lease: batch, dead: [] })) === undefined ? 0 : 1,
    ];
    if (late.every((count) => count === 0)) counts.lateRefused += 1;
    else counts.lateAccepted += 1;
  }
}

async function settle(batches: readonly Batch[]): Promise<void> {
  const done: Batch[] = [];
  const work: Promise<unknown>[] = [];
  for (const batch of batches) {
    const dice = Math.random();
    if (dice < 0.4) done.push(batch);
    else if (dice < 0.6) work.push(fail(batch));
    else if (dice < 0.7) work.push(backend.release([batch], chance(0.5) ? 0 : 5));
    else if (dice < 0.85) work.push(shrink(batch));
    else if (dice < 0.9) work.push(bury(batch));
    else abandoned.push(batch);
  }
  // Heartbeats and acknowledgements of the same rows at the same time, each in an order of its own.
  work.push(
    backend.heartbeat(some(batches)),
    ack(done.sort(() => Math.random() - 0.5)),
    backend.heartbeat(some(batches)),
  );
  await Promise.all(work);
}

async function round(): Promise<void> {
  const request = { owner, maintain: chance(0.5), recover: chance(0.3), orphans: true, prune: chance(0.05) };
  const { batches, recovered } = await subject.poll(some(queues), {
    ...request,
    limit: 1 + Math.floor(Math.random() * 5),
  });
  for (const one of recovered) counts.recovered += one.recovered + one.died;
  counts.claimed += batches.length;
  await settle(batches);
  if (batches.length < 3) await publish();
  if (chance(0.05)) await comeBackLate();
}

const begun = performance.now();
let error: unknown;
try {
  while (performance.now() - begun < Number(durationMs)) await Promise.all([round(), round()]);
  await comeBackLate();
} catch (thrown) {
  error = thrown;
}
await backend.close();
const { code, message, where } = (error ?? {}) as { code?: string; message?: string; where?: string };
report("done", {
  counts,
  published,
  acked,
  dead,
  error: error === undefined ? null : `${code} ${message} ${where ?? ""}`,
});
await told("goodbye");
