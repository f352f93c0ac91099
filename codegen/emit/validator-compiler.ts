/** The validators of all queues; of many queues on a core of their own, because ajv is half of the work. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { QueueModel } from "../model.js";
import { type CompiledValidators, compileValidators, type ValidatorsSource } from "./validators.js";

/** Below this many queues a worker costs more than it saves. */
const workerFrom = 60;

/** Compiles validators, by schema path: their text, or why ajv refused them. */
export interface ValidatorCompiler {
  compile(queues: readonly QueueModel[]): Promise<ReadonlyMap<string, CompiledValidators>>;
  close(): Promise<void>;
}

/** Opens a compiler early, so that a worker loads ajv while the model is being made. */
export function openValidatorCompiler(queueCount: number): ValidatorCompiler {
  if (queueCount < workerFrom || availableParallelism() < 2) {
    return { compile: async (queues) => compileValidators(queues.map(sourceOf)), close: async () => undefined };
  }
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  // The worker's garbage is short-lived; without a bound its heap would grow as far as the machine lets it.
  const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
  const worker = new Worker(new URL(`./validator-worker.${extension}`, import.meta.url), { resourceLimits });
  const answer = new Promise<ReadonlyMap<string, CompiledValidators>>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  // Should something else fail first, that error is the one to tell.
  answer.catch(() => undefined);
  return {
    compile: (queues) => {
      worker.postMessage(queues.map(sourceOf));
      return answer;
    },
    close: async () => void (await worker.terminate()),
  };
}

function sourceOf({ file, bundle }: QueueModel): ValidatorsSource {
  return { path: file.path, display: file.display, bundle };
}
