/** Takes back what dead or silent owners held: `recover` of the SQL functions, on the memory backend's tables. */
import type { Recovery } from "../../instrument.js";
import type { Row } from "./row.js";
import type { Store } from "./store.js";

/** Bound of one call. */
const maxRows = 100;

export function recover(store: Store, orphans: boolean): Recovery[] {
  const now = store.now();
  const lost: { row: Row; reason: Recovery["reason"] }[] = [];
  for (const row of store.processing.values()) {
    const reason = reasonOf(store, row, { now, orphans });
    if (reason !== undefined) lost.push({ row, reason });
    if (lost.length === maxRows) break;
  }
  // Before anything moves: what each owner held is noted with each of its batches.
  const notes = new Map(lost.map(({ row: { owner } }) => [owner, noteOf(store, owner)]));
  const counts = new Map<string, Recovery>();
  for (const { row, reason } of lost) {
    const key = JSON.stringify([row.queue, reason]);
    const died = takeBack(store, row, notes.get(row.owner) ?? "");
    const sum = counts.get(key) ?? { queue: row.queue, reason, recovered: 0, died: 0 };
    counts.set(key, { ...sum, recovered: sum.recovered + (died ? 0 : 1), died: sum.died + (died ? 1 : 0) });
  }
  return [...counts.values()];
}

function reasonOf(store: Store, row: Row, { now, orphans }: { now: number; orphans: boolean }) {
  const { orphanAfterMs, staleAfterMs } = store.queue(row.queue);
  const silentMs = now - (row.heartbeatAt ?? now);
  const owner = row.owner ?? "";
  const isOrphan =
    orphans && silentMs > orphanAfterMs && store.nodes.get(owner)?.hadSession === true && !store.alive.has(owner);
  if (isOrphan) return "orphan" as const;
  return silentMs > (row.staleAfterMs ?? staleAfterMs) ? ("stale" as const) : undefined;
}

/** Answers whether it died. */
function takeBack(store: Store, row: Row, note: string): boolean {
  const limit = row.maxAttempts ?? store.queue(row.queue).maxAttempts;
  row.crashes += 1;
  if (row.messageCount === 1 && row.crashes >= limit) {
    const text = `${row.crashes} nodes were lost while this batch was in flight; it may be a bystander of another batch's crash`;
    store.bury(row, { reason: "crash", error: [text, note, row.lastError].filter(Boolean).join("\n") });
    store.remove(row);
    return true;
  }
  row.lastError = [note, row.lastError].filter(Boolean).join("\n");
  store.giveBack(row);
  return false;
}

function noteOf(store: Store, owner: string | undefined): string {
  const held = [...store.processing.values()].filter((row) => row.owner === owner).slice(0, 11);
  const names = held.map(({ queue, id }) => `${queue}/${id}`).join(", ");
  return `the node ${owner} was lost while this batch was in flight; with it in flight: ${names}`;
}
