/** A chain as operators see it. */
import { decodeChain } from "../chain/chain.js";
import type { ChainView } from "./inspector.js";

export function chainViewOf(stored: string): ChainView {
  const { id, step, steps, rest } = decodeChain(stored);
  return { id, step, steps, remaining: rest.map(({ queue, payload }) => ({ queue, payload })) };
}
