/**
 * The state of a chain, as it travels with the batch of its current step: which step that is, and what follows. The statement
 * that acknowledges the step stores the next one from it (migrations/functions/hand_over.sql), so that a crash can neither lose
 * nor double a step.
 */
import type { NewBatch } from "../batch/batch.js";

/** A step that has not begun: what its batch will be. */
export interface RemainingStep {
  readonly queue: string;
  readonly version: number;
  readonly priority: number;
  /** JSON array of its one message. */
  readonly payload: string;
  readonly meta?: string;
  readonly maxAttempts?: number;
  readonly staleAfterMs?: number;
  /** Counted from the end of the step before. */
  readonly delayMs?: number;
}

export interface ChainState {
  readonly id: string;
  /** The current step, counted from 1. */
  readonly step: number;
  /** Steps of the whole chain. */
  readonly steps: number;
  readonly rest: readonly RemainingStep[];
}

export function encodeChain(state: ChainState): string {
  return JSON.stringify(state);
}

export function decodeChain(text: string): ChainState {
  return JSON.parse(text) as ChainState;
}

/** The batch of the step after the current one; undefined after the last. */
export function nextBatch(state: ChainState): NewBatch | undefined {
  const [next, ...rest] = state.rest;
  if (next === undefined) return undefined;
  const chain = encodeChain({ ...state, step: state.step + 1, rest });
  return { ...next, chain, bytes: Buffer.byteLength(next.payload), messageCount: 1 };
}

/** The key under which a chain's progress is kept. */
export function chainKey(chainId: string): string {
  return `chain:${chainId}`;
}

/** How far the whole chain is, when its current step is at `percent` of itself. */
export function chainPercent({ step, steps }: ChainState, percent: number): number {
  return (100 * (step - 1) + Math.max(0, Math.min(100, percent))) / steps;
}
