/** `codegen --watch`: one run per burst of changes. A failing run leaves the last good output where it is. */
import { watch } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type GenerateOptions, type GenerateResult, generate } from "./generate.js";
import { CodegenError } from "./problem.js";
import { projectPaths } from "./project-paths.js";

/** Editors write a file in several steps; a run in the middle would see half of it. */
const quietMs = 100;

/** What a watcher is told about each run. */
export interface WatchListener {
  written(result: GenerateResult): void;
  refused(error: CodegenError): void;
}

/** Generates now and after every change below the schema folder, until the signal is aborted. */
export async function watchSchemas(
  options: GenerateOptions & { signal: AbortSignal },
  listener: WatchListener,
): Promise<void> {
  const { schemas } = projectPaths(options);
  // Watching begins before the first run, so that a change during it is not lost.
  const events = watch(schemas, { recursive: true, signal: options.signal });
  await run(options, listener);
  let pending = Promise.resolve();
  let queued = false;
  try {
    for await (const event of events) {
      if (queued || !event.filename?.endsWith(".json")) continue;
      queued = true;
      pending = pending
        .then(() => sleep(quietMs, undefined, { signal: options.signal }))
        .then(() => {
          queued = false;
          return run(options, listener);
        });
      // An abort during the quiet time is the end, not a fault.
      pending.catch(() => undefined);
    }
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

async function run(options: GenerateOptions, listener: WatchListener): Promise<void> {
  try {
    listener.written(await generate(options));
  } catch (error) {
    if (!(error instanceof CodegenError)) throw error;
    listener.refused(error);
  }
}
