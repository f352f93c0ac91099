/** The demo on one screen: database -> two workers and a publisher -> idle messages -> the bulk, a crash in it -> the account. */

import { type Account, account } from "./account.js";
import { ChildNode } from "./child-node.js";
import type { Cleanup } from "./cleanup.js";
import { type Crash, crash, crashReport } from "./crash.js";
import { type DemoDatabase, openDemoDatabase } from "./demo-database.js";
import { drained, lookAt } from "./drained.js";
import type { DemoOptions } from "./options.js";
import { type Progress, showProgress } from "./progress.js";
import type { NodeTask, PublishedMessage } from "./protocol.js";
import { readReceipts } from "./receipts.js";
import { countWakeups } from "./wakeups.js";

export async function runDemo(options: DemoOptions, cleanup: Cleanup): Promise<Account> {
  const database = await openDemoDatabase();
  cleanup.add(() => database.stop());
  const { publisher, workers, lines } = await startNodes(options, database, cleanup);
  const total = options.messages ?? lines;
  const progress = showProgress(total);
  cleanup.add(async () => progress.stop());
  const wakeups = countWakeups(workers);
  const published: PublishedMessage[] = [];
  publisher.on("said", (said) => {
    if (said.name !== "published") return;
    published.push(...said.messages);
    progress.update({ published: published.length });
  });
  const settle = () => drained(database, ({ received }) => progress.update({ received }));

  progress.step("single messages to idle workers");
  publisher.tell("publishIdle");
  await publisher.hear("idleDone");
  await settle();
  const idle = { messages: published.map(({ seq }) => seq), wakeups: wakeups.take() };

  progress.step("everything else, as fast as it goes");
  const startedAt = performance.now();
  const watching = setInterval(() => {
    lookAt(database)
      .then(({ received }) => progress.update({ received }))
      .catch(() => undefined);
  }, 250);
  cleanup.add(async () => clearInterval(watching));
  publisher.tell("publishBulk");
  const [{ refusals, deduplicated }, killed] = await Promise.all([
    publisher.hear("bulkDone"),
    options.crash === true ? crashAtHalf({ publisher, workers, database, progress, total, published }) : undefined,
  ]);
  clearInterval(watching);
  const publishMs = performance.now() - startedAt;
  progress.step("waiting until the queues are empty");
  const stand = await settle();
  const bulk = { publishMs, drainMs: performance.now() - startedAt, messages: published.length - idle.messages.length };
  for (const node of [publisher, ...workers]) await node.stop();

  const receipts = await readReceipts(database.pool, database.schema);
  return account({
    published,
    receipts,
    nodes: workers.map(({ name }) => name),
    refusals,
    deduplicated,
    stand,
    idle,
    bulk,
    wakeups: wakeups.all(),
    ...(killed === undefined ? {} : { crash: crashReport(killed, receipts) }),
  });
}

async function startNodes(options: DemoOptions, database: DemoDatabase, cleanup: Cleanup) {
  const start = (file: string, node: string): ChildNode => {
    const { connectionString, schema } = database;
    const { pollMs, input, messages } = options;
    const task: NodeTask = {
      connectionString,
      schema,
      node,
      pollMs,
      input,
      ...(messages === undefined ? {} : { messages }),
    };
    const child = new ChildNode(file, task);
    cleanup.add(() => child.stop(2_000));
    return child;
  };
  const workers = [start("worker-node.ts", "worker-1"), start("worker-node.ts", "worker-2")];
  const publisher = start("publisher-node.ts", "publisher");
  const ready = Promise.all(workers.map((worker) => worker.hear("ready")));
  const [{ lines }] = await Promise.all([publisher.hear("counted"), ready]);
  return { publisher, workers, lines };
}

interface CrashParams {
  readonly publisher: ChildNode;
  readonly workers: readonly ChildNode[];
  readonly database: DemoDatabase;
  readonly progress: Progress;
  readonly total: number;
  readonly published: readonly PublishedMessage[];
}

async function crashAtHalf({ publisher, workers, database, progress, total, published }: CrashParams): Promise<Crash> {
  const victim = workers.at(-1) as ChildNode;
  // Counted by the listener that was there before this one.
  while (published.length < total / 2) await publisher.hear("published");
  const killed = await crash(victim, database);
  progress.step(`${victim.name} was killed with ${killed.batchIds.length} batches in its hands`);
  return killed;
}
