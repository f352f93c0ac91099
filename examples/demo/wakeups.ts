/** Counts why workers found work, as they tell it: what a killed one had told until then counts too. */
import type { WakeSource } from "../../src/instrument.js";
import type { ChildNode } from "./child-node.js";

export type Wakeups = Readonly<Record<WakeSource, number>>;

export function countWakeups(workers: readonly ChildNode[]) {
  const none = (): Record<WakeSource, number> => ({ notify: 0, poll: 0, slot: 0, timer: 0 });
  const all = none();
  let recent = none();
  for (const worker of workers) {
    worker.on("said", (said) => {
      if (said.name !== "woken") return;
      all[said.source] += 1;
      recent[said.source] += 1;
    });
  }
  return {
    all: (): Wakeups => ({ ...all }),
    /** Those since the last call. */
    take: (): Wakeups => {
      const taken = recent;
      recent = none();
      return taken;
    },
  };
}
