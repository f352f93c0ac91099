/** The validators of all queues; of many queues on two cores, because ajv is half of the work. */
import { availableParallelism } from "node:os";
import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Bundle } from "../bundle.js";
import type { LoadedSchemas, SchemaFile } from "../load.js";
import type { CompiledValidators, ValidatorsSource } from "./validators.js";

/** Below this many queues a worker costs more than it saves. */
const workerFrom = 60;
/** Queues that the worker is given at a time; it has two such portions, so that it never waits for the next. */
const portion = 16;

/** Compiles validators, by schema path: their text, or why ajv refused them. */
export interface ValidatorCompiler {
  /** Hands the work out; the worker begins at once. */
  begin(bundles: ReadonlyMap<SchemaFile, Bundle>): void;
  /** Does what the worker has not got to, and gathers everything. */
  finish(): Promise<ReadonlyMap<string, CompiledValidators>>;
  close(): Promise<void>;
}

/** Opens a compiler early, so that a worker loads ajv while the rest is loaded and the model is being made. */
export function openValidatorCompiler({ files }: LoadedSchemas): ValidatorCompiler {
  const queueCount = [...files.values()].filter((file) => file.role === "queue").length;
  // From TypeScript sources there is no worker: the loader that reads them does not reach other threads.
  const sources = import.meta.url.endsWith(".ts");
  return sources || queueCount < workerFrom || availableParallelism() < 2 ? alone() : shared();
}

function alone(): ValidatorCompiler {
  let sources: readonly ValidatorsSource[] = [];
  return {
    begin: (bundles) => {
      sources = sourcesOf(bundles);
    },
    finish: async () => (await loadAjv())(sources),
    close: async () => undefined,
  };
}

// Who compiles what changes nothing about the result, only about when it is there.
function shared(): ValidatorCompiler {
  const waiting: ValidatorsSource[] = [];
  const done = new Map<string, CompiledValidators>();
  let expected = 0;
  let failed: Error | undefined;
  let heard = () => {};
  // Its garbage is short-lived; without a bound its heap would grow as far as the machine lets it.
  const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
  const worker = new Worker(new URL("./validator-worker.js", import.meta.url), { resourceLimits });
  const give = () => {
    if (waiting.length > 0) worker.postMessage(waiting.splice(0, portion));
  };
  worker.on("message", (compiled: ReadonlyMap<string, CompiledValidators>) => {
    for (const [path, validators] of compiled) done.set(path, validators);
    give();
    heard();
  });
  worker.on("error", (error: Error) => {
    failed = error;
    heard();
  });
  return {
    begin: (bundles) => {
      waiting.push(...sourcesOf(bundles));
      expected = waiting.length;
      give();
      give();
    },
    finish: async () => {
      const compileValidators = waiting.length > 0 ? await loadAjv() : () => [];
      while (done.size < expected) {
        if (failed !== undefined) throw failed;
        for (const [path, validators] of compileValidators(waiting.splice(-2))) done.set(path, validators);
        // The worker's answers are heard between two queues; with nothing left to do here, they are waited for.
        if (waiting.length > 0) await turn();
        else if (done.size < expected) {
          await new Promise<void>((resolve) => {
            heard = resolve;
          });
        }
      }
      return done;
    },
    close: async () => void (await worker.terminate()),
  };
}

// Imported when it is needed here: the worker must not wait for this thread to load ajv.
async function loadAjv(): Promise<typeof import("./validators.js").compileValidators> {
  return (await import("./validators.js")).compileValidators;
}

function sourcesOf(bundles: ReadonlyMap<SchemaFile, Bundle>): ValidatorsSource[] {
  return [...bundles].map(([file, bundle]) => ({ path: file.path, display: file.display, bundle }));
}
