/** Ends leases: the settling SQL functions, on the memory backend's tables. Each acts only where the lease is still held. */
import type { Lease } from "../../batch/batch.js";
import { chainKey, chainPercent, decodeChain, nextBatch } from "../../chain/chain.js";
import type { DeadBatch, Division, FailedBatch, PartialSettlement } from "../backend.js";
import type { Row } from "./row.js";
import type { Store } from "./store.js";

/** @param onNext - told of the queue a chain goes on in */
export function ack(store: Store, leases: readonly Lease[], onNext: (queue: string) => void): Set<string> {
  return each(store, leases, (row) => {
    store.remove(row);
    if (row.chain !== undefined) handOver(store, row.chain, onNext);
    else if (row.tracked) store.writeProgress(row.id, { percent: 100, state: "finished" });
  });
}

function handOver(store: Store, chain: string, onNext: (queue: string) => void): void {
  const state = decodeChain(chain);
  const next = nextBatch(state);
  const percent = next === undefined ? 100 : chainPercent(state, 100);
  store.writeProgress(chainKey(state.id), { percent, state: next === undefined ? "finished" : "running" });
  if (next === undefined) return;
  store.publish(store.inLine(next), store.nextId());
  onNext(next.queue);
}

export function release(store: Store, leases: readonly Lease[], delayMs: number): Set<string> {
  return each(store, leases, (row) => store.giveBack(row, laterBy(store, delayMs)));
}

export function retry(store: Store, failures: readonly FailedBatch[]): Map<string, "delayed" | "dead" | "divide"> {
  const answers = new Map<string, "delayed" | "dead" | "divide">();
  for (const { lease, delayMs, error } of failures) {
    const row = store.owned(lease);
    if (row === undefined) continue;
    const isLast = row.failures + 1 >= attemptsOf(store, row);
    if (isLast && row.messageCount > 1) {
      answers.set(row.id, "divide");
      continue;
    }
    row.failures += 1;
    if (isLast) {
      store.bury(row, { reason: "attempts", error });
      store.remove(row);
    } else {
      row.lastError = error;
      store.giveBack(row, laterBy(store, delayMs));
    }
    answers.set(row.id, isLast ? "dead" : "delayed");
  }
  return answers;
}

export function deadLetter(store: Store, batches: readonly DeadBatch[]): Set<string> {
  const ids = new Set<string>();
  for (const { lease, reason, error } of batches) {
    const row = store.owned(lease);
    if (row === undefined) continue;
    store.bury(row, { reason, error });
    store.remove(row);
    ids.add(row.id);
  }
  return ids;
}

export function settlePart(store: Store, settlement: PartialSettlement): "kept" | "delayed" | "gone" | undefined {
  const { lease, rest, dead, failure } = settlement;
  const row = store.owned(lease);
  if (row === undefined) return undefined;
  // Places only leave: what is said twice buries nothing twice, and what comes too late brings nothing back.
  const isHere = (place: number) => row.positions?.includes(place) ?? true;
  if (rest !== undefined && !rest.positions.every(isHere)) return undefined;
  for (const { payload, meta, position, reason, error } of dead.filter(({ position }) => isHere(position))) {
    const part = { payload, meta, positions: [position], messageCount: 1, bytes: Buffer.byteLength(payload) };
    store.bury(row, { ...part, reason, error, failures: row.failures + (reason === "attempts" ? 1 : 0) });
  }
  if (rest === undefined) {
    store.remove(row);
    return "gone";
  }
  row.payload = rest.payload;
  row.bytes = Buffer.byteLength(rest.payload);
  row.meta = rest.meta;
  row.positions = rest.positions;
  row.messageCount = rest.positions.length;
  if (failure === undefined) {
    row.heartbeatAt = store.now();
    return "kept";
  }
  row.failures += 1;
  row.lastError = failure.error;
  store.giveBack(row, laterBy(store, failure.delayMs));
  return "delayed";
}

export function divide(store: Store, { lease, singles, failure }: Division): string[] {
  const row = store.owned(lease);
  if (row === undefined) return [];
  const failures = failure === undefined ? row.failures : attemptsOf(store, row) - 1;
  const lastError = failure?.error ?? row.lastError;
  const availableAt = laterBy(store, failure?.delayMs ?? 0);
  store.remove(row);
  return singles.map(({ payload, meta, position }) => {
    const origin = { originId: row.originId ?? row.id, originAt: row.originAt ?? row.createdAt, positions: [position] };
    // A batch of several messages has no unique key.
    const single = {
      ...row,
      ...origin,
      unique: undefined,
      payload,
      meta,
      messageCount: 1,
      bytes: Buffer.byteLength(payload),
    };
    const state = { seq: store.nextId(), availableAt, failures, crashes: row.crashes, lastError };
    return store.insert({ ...single, owner: undefined, token: undefined, heartbeatAt: undefined } as Row, state).id;
  });
}

export function heartbeat(store: Store, leases: readonly Lease[]): Map<string, "kept" | "lost"> {
  const answers = new Map<string, "kept" | "lost">();
  for (const lease of leases) {
    const row = store.owned(lease);
    if (row !== undefined) row.heartbeatAt = store.now();
    answers.set(lease.token, row === undefined ? "lost" : "kept");
  }
  return answers;
}

function each(store: Store, leases: readonly Lease[], move: (row: Row) => void): Set<string> {
  const ids = new Set<string>();
  for (const lease of leases) {
    const row = store.owned(lease);
    if (row === undefined) continue;
    move(row);
    ids.add(row.id);
  }
  return ids;
}

function laterBy(store: Store, delayMs: number): number | undefined {
  return delayMs > 0 ? store.now() + delayMs : undefined;
}

function attemptsOf(store: Store, row: Row): number {
  return row.maxAttempts ?? store.queue(row.queue).maxAttempts;
}
