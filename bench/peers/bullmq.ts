/**
 * BullMQ on PostgreSQL, the backend that comes with BullMQ 6. As its page on PostgreSQL advises: finished jobs are removed, the
 * pool is as large as the concurrency, which is the upper end (32) of the range it states its throughput for.
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
  open: async ({ connectionString, queues: names }) => {
    const producing = { connectionString, max: 10 };
    const queues = new Map(
      names.map((name) => {
        const queue = new Queue<OrderPlaced>(name, {
          connection: producing,
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
        // One process has one budget of connections, however many queues it serves.
        const share = Math.max(1, Math.floor(concurrency / wanted.length));
        for (const queue of wanted) {
          const worker = new Worker<OrderPlaced>(queue, async ({ data }) => void (await handle([data])), {
            connection: { connectionString, max: share },
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
      },
    };
  },
};
