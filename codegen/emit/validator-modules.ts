/** The validators of all queues; of many queues on a core of their own, because ajv is half of the work. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { QueueModel } from "../model.js";
import { type CompiledValidators, compileValidators, type ValidatorsSource } from "./validators.js";

/** Starting a worker takes about as long as compiling this many queues. */
const workerFrom = 60;

/** The validators of each queue by schema path, or why ajv refused to compile them. */
export async function validatorModules(
  queues: readonly QueueModel[],
): Promise<ReadonlyMap<string, CompiledValidators>> {
  const sources = queues.map(
    ({ file, bundle }): ValidatorsSource => ({ path: file.path, display: file.display, bundle }),
  );
  if (sources.length < workerFrom || availableParallelism() < 2) {
    return compileValidators(sources);
  }
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./validator-worker.${extension}`, import.meta.url), { workerData: sources });
  return new Promise((resolve, reject) => {
    worker.once("message", (modules: Map<string, CompiledValidators>) => resolve(modules));
    worker.once("error", reject);
  });
}
