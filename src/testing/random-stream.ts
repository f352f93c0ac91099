/** Numbers from 0 to 1 that a seed and a name decide: mulberry32, started from a hash of both. */
import { createHash } from "node:crypto";

export function randomStream(seed: number, name: string): () => number {
  let state = createHash("sha256").update(`${seed}:${name}`).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
