/** Systems as the contenders of a comparison: each with its processes, for as long as the comparison lasts. */
import type { Bench, Contender, Sample } from "./scenario.js";
import type { SystemEntry } from "./systems/catalogue.js";
import type { SystemOptions } from "./systems/system.js";
import { type SystemProcess, startSystem } from "./systems/system-process.js";

/** What all systems of a comparison are given; the address is the run's own unless it says another. */
export type ContestOptions = Omit<SystemOptions, "connectionString"> & Partial<Pick<SystemOptions, "connectionString">>;

/** Names of queues for a scenario; each its own, for some systems fix a queue's settings at its first use. */
export function queueNames(scenario: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${scenario}-${index + 1}`);
}

/** The contender of a system that needs one process, which stays: the first measurement opens it. */
export function lasting(
  bench: Bench,
  entry: SystemEntry,
  options: ContestOptions,
  measure: (system: SystemProcess) => Promise<Sample>,
): Contender {
  let process: SystemProcess | undefined;
  return {
    name: entry.title,
    mayFail: entry.isPeer === true,
    measure: async () => {
      process ??= await openSystem(bench, entry, options);
      return await measure(process);
    },
    close: async () => void (await process?.stop()),
  };
}

/**
 * The contender of a system that needs several processes, which stay, their code compiled; their connections are new for each
 * measurement, for those of all contenders together would be more than the server allows.
 */
export function recurring(
  bench: Bench,
  entry: SystemEntry,
  { count, ...options }: ContestOptions & { readonly count: number },
  measure: (systems: readonly SystemProcess[]) => Promise<Sample>,
): Contender {
  let processes: readonly SystemProcess[] = [];
  return {
    name: entry.title,
    mayFail: entry.isPeer === true,
    measure: async () => {
      if (processes.length === 0) {
        const all = { connectionString: bench.connectionString, ...options };
        processes = await Promise.all(Array.from({ length: count }, () => startSystem(entry, all)));
        await processes[0]?.prepare();
      }
      await Promise.all(processes.map((process) => process.open()));
      try {
        return await measure(processes);
      } finally {
        await Promise.all(processes.map((process) => process.close()));
      }
    },
    close: async () => void (await Promise.all(processes.map((process) => process.stop()))),
  };
}

/** The contender of a system whose processes are new for each measurement. `start` makes one more; all are stopped at the end. */
export function fresh(
  bench: Bench,
  entry: SystemEntry,
  options: ContestOptions,
  measure: (start: (more?: Partial<ContestOptions>) => Promise<SystemProcess>) => Promise<Sample>,
): Contender {
  let isPrepared = false;
  return {
    name: entry.title,
    mayFail: entry.isPeer === true,
    measure: async () => {
      const processes: SystemProcess[] = [];
      const start = async (more: Partial<ContestOptions> = {}) => {
        const process = await startSystem(entry, { connectionString: bench.connectionString, ...options, ...more });
        processes.push(process);
        if (!isPrepared) await process.prepare();
        isPrepared = true;
        return process;
      };
      try {
        return await measure(start);
      } finally {
        await Promise.allSettled(processes.map((process) => process.stop()));
      }
    },
  };
}

/** One process of the system, prepared and open. */
export async function openSystem(bench: Bench, entry: SystemEntry, options: ContestOptions): Promise<SystemProcess> {
  const process = await startSystem(entry, { connectionString: bench.connectionString, ...options });
  await process.prepare();
  await process.open();
  return process;
}
