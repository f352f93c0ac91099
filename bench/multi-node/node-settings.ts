/** What every node of a run is started with. */
import { join } from "node:path";

export interface NodeSettings {
  /** A name of `systems/catalogue.ts`. */
  readonly system: string;
  readonly queues: number;
  readonly rtt?: { readonly minMs: number; readonly maxMs: number };
}

export const embeddedDirectory = join(import.meta.dirname, "..", "..", ".postrider", "bench");
export const logFolder = join(embeddedDirectory, "nodes");
