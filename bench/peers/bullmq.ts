/**
 * BullMQ on PostgreSQL, the backend that comes with BullMQ 6. As its page on PostgreSQL advises: finished jobs are removed, the
 * pool is as large as the concurrency, which is the upper end (32) of the range it states its throughput for. One pool serves
 * all queues of a process: with one each, ten queues in three processes are more connections than this server allows.
 */
import { createPostgresBackend, runMigrations, withBackend } from "bullmq";
import pg from "pg";
import type { OrderPlaced } from "../../generated/index.js";
import type { Adapter } from "../systems/system.js";

const { Queue, Worker } = withBackend(createPostgresBackend);
const concurrency = 32;

export const adapter: Adapter = {
  prepare: async ({ connectionString }) => {
    const client = new pg.Client(connectionString);
    await client.connect();
    await runMigrations(client);
    await client.end();
  },
  open: async ({ connectionString, queues: names, exclusive }) => {
    // A pool of one's own has to find BullMQ's tables by itself.
    const made = new pg.Pool({ connectionString, max: concurrency, options: "-c search_path=bullmq" });
    // Its documentation takes a pool; its types want an index signature too.
    const pool = made as pg.Pool & Record<string, unknown>;
    // Every queue and worker listens to it.
    pool.setMaxListeners(0);
    pool.on("error", () => undefined);
    const queues = new Map(
      names.map((name) => {
        const queue = new Queue<OrderPlaced>(name, {
          connection: pool,
          defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
        });
        queue.on("error", () => undefined);
        return [name, queue] as const;
      }),
    );
    const queueOf = (name: string) => {
      const queue = queues.get(name);
      if (queue === undefined) throw new Error(`no queue ${name}`);
      return queue;
    };
    const workers: { close(): Promise<void> }[] = [];
    return {
      publish: (queue, message) => queueOf(queue).add("order", message),
      publishMany: (queue, messages) => queueOf(queue).addBulk(messages.map((data) => ({ name: "order", data }))),
      consume: async (wanted, handle) => {
        const share = exclusive === true ? 1 : Math.max(1, Math.floor(concurrency / wanted.length));
        for (const queue of wanted) {
          if (exclusive === true) await queueOf(queue).setGlobalConcurrency(1);
          const worker = new Worker<OrderPlaced>(queue, async ({ data }) => void (await handle([data])), {
            connection: pool,
            concurrency: share,
          });
          worker.on("error", () => undefined);
          await worker.waitUntilReady();
          workers.push(worker);
        }
      },
      stop: async () => {
        await Promise.all(workers.map((worker) => worker.close()));
        await Promise.all([...queues.values()].map((queue) => queue.close()));
        await pool.end();
      },
    };
  },
};
