/** `timeoutMs` and `signal` of a publish: a message that still waits in the buffer is taken out again (P9). */
import { PostriderError } from "../errors.js";
import type { Entry, Placed } from "./entry.js";
import type { PublishOptions } from "./publisher.js";

/** The entry's promise; rejects early when the entry could be withdrawn in time. What is being written is not. */
export function withdrawal(
  entry: Entry,
  options: PublishOptions | undefined,
  queue: string,
  withdraw: () => boolean,
): Promise<Placed> {
  const { timeoutMs, signal } = options ?? {};
  if (timeoutMs === undefined && signal === undefined) return entry.promise;
  const giveUp = (why: string, cause?: unknown) => {
    if (!withdraw()) return;
    const message = `queue "${queue}": the message still waited in the buffer when ${why}`;
    entry.failed(new PostriderError("ERR_PUBLISH_TIMEOUT", message, { cause, details: { queue } }));
  };
  const onAbort = () => giveUp("its signal was aborted", signal?.reason);
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => giveUp(`${timeoutMs} ms had passed`), timeoutMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return entry.promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  });
}
