/**
 * graphile-worker, with the settings under which its documentation states its throughput ("Performance", "With batching"):
 * 24 jobs at once, a local queue of 500, completion in batches. Queues are its tasks: a named queue of its own runs one job at a
 * time, and is used where that is wanted; there without the local queue, which would hold jobs back from the other processes.
 */
import { Logger, makeWorkerUtils, type Runner, run, runMigrations } from "graphile-worker";
import type { OrderPlaced } from "../../generated/index.js";
import type { Adapter } from "../systems/system.js";

const logger = new Logger(() => () => undefined);

export const adapter: Adapter = {
  prepare: ({ connectionString }) => runMigrations({ connectionString, logger }),
  open: async ({ connectionString, exclusive }) => {
    const utils = await makeWorkerUtils({ connectionString, maxPoolSize: 10, logger });
    let runner: Runner | undefined;
    const named = (queue: string) => (exclusive === true ? { queueName: queue } : {});
    return {
      publish: (queue, message) => utils.addJob(queue, message, named(queue)),
      publishMany: (queue, messages) =>
        utils.addJobs(messages.map((payload) => ({ identifier: queue, payload, ...named(queue) }))),
      consume: async (queues, handle) => {
        const task = async (payload: unknown) => void (await handle([payload as OrderPlaced]));
        runner = await run({
          taskList: Object.fromEntries(queues.map((queue) => [queue, task])),
          preset: {
            worker: {
              connectionString,
              concurrentJobs: 24,
              maxPoolSize: 25,
              ...(exclusive === true ? {} : { localQueue: { size: 500 } }),
              completeJobBatchDelay: 0,
              failJobBatchDelay: 0,
            },
          },
          logger,
          noHandleSignals: true,
        });
      },
      stop: async () => {
        await runner?.stop();
        await utils.release();
      },
    };
  },
};
