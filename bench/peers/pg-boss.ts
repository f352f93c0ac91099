/**
 * pg-boss. Tuned as its documentation advises for throughput: a batch handler (`batchSize`) that fetches on at once while
 * batches come back full (`burstWhenBatchFull`), `insert` for many; LISTEN/NOTIFY where a consumer is to be woken. Its
 * supervision and its clock for schedules are off: nothing here needs them.
 */
import { PgBoss } from "pg-boss";
import type { OrderPlaced } from "../../generated/index.js";
import type { Adapter, SystemOptions } from "../systems/system.js";

export const adapter: Adapter = {
  prepare: async (options) => {
    const boss = await start(options);
    for (const queue of options.queues)
      await boss.createQueue(queue, {
        notify: options.wake,
        ...(options.exclusive === true ? { policy: "singleton" } : {}),
      });
    await boss.stop({ graceful: false });
  },
  open: async (options) => {
    const boss = await start(options);
    return {
      publish: (queue, message) => boss.send(queue, message),
      publishMany: (queue, messages) =>
        boss.insert(
          queue,
          messages.map((data) => ({ data })),
        ),
      consume: async (queues, handle) => {
        for (const queue of queues) {
          await boss.work<OrderPlaced>(
            queue,
            {
              batchSize: options.exclusive === true ? 1 : 100,
              burstWhenBatchFull: true,
              pollingIntervalSeconds: 0.5,
            },
            async (jobs) => void (await handle(jobs.map(({ data }) => data))),
          );
        }
      },
      stop: () => boss.stop({ graceful: true, timeout: 5_000 }),
    };
  },
};

async function start({ connectionString, wake, exclusive }: SystemOptions): Promise<PgBoss> {
  // It notifies of new jobs, not of a job's end, and polls less often where it notifies: a queue of one at a time is for polling.
  const useListenNotify = wake && exclusive !== true;
  const boss = new PgBoss({ connectionString, max: 10, supervise: false, schedule: false, useListenNotify });
  boss.on("error", () => undefined);
  await boss.start();
  return boss;
}
