/** `mq.progress`: how far batches, chains and anything else with a key have come (J5). */
import type { Progress, ProgressStore, ProgressUpdate } from "../backend/progress-store.js";
import { PostriderError } from "../errors.js";
import { pause } from "../time.js";
import type { ProgressNews } from "./progress-news.js";

/** How a progress is followed. */
export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** Longest time between two looks when no notification comes, in ms. Default 1,000. */
  readonly pollMs?: number;
}

export interface ProgressAccess {
  /** By a batch's id, `chain:<id>`, or the key it was set with; undefined where nothing was recorded. */
  get(key: string): Promise<Progress | undefined>;
  /**
   * Records progress under a key of the caller's own; the last writer wins. `percent` is clamped to 0 to 100; what is absent
   * stays as it was, and the state is `running` unless another is given.
   * @throws PostriderError `ERR_PROGRESS_KEY` for a key that is no text of 1 to 254 bytes
   */
  set(key: string, update: ProgressUpdate): Promise<void>;
  /** Deletes what was last written before then; how many. */
  purge(before: Date): Promise<number>;
  /**
   * What is recorded now, if anything, and then every change that is seen; ends after `finished` or `failed`, or when the signal
   * aborts. A started client looks when it is notified, any other every `pollMs`. Changes in quick succession may be seen as one.
   */
  follow(key: string, options?: FollowOptions): AsyncGenerator<Progress, void>;
}

export function progressAccess(store: ProgressStore, news: ProgressNews): ProgressAccess {
  return Object.freeze({
    get: (key: string) => store.get(key),
    set: async (key: string, update: ProgressUpdate) => {
      const bytes = Buffer.byteLength(key);
      if (bytes < 1 || bytes > 254) {
        throw new PostriderError("ERR_PROGRESS_KEY", `the key of a progress has 1 to 254 bytes, found ${bytes}`);
      }
      await store.set(key, update);
      news.tell(key);
    },
    purge: (before: Date) => store.purge(before),
    follow: (key: string, options: FollowOptions = {}) => follow(store, news, key, options),
  });
}

async function* follow(
  store: ProgressStore,
  news: ProgressNews,
  key: string,
  { signal, pollMs = 1_000 }: FollowOptions,
): AsyncGenerator<Progress, void> {
  let seen = "";
  while (!signal?.aborted) {
    const over = new AbortController();
    const wake = () => over.abort();
    // Before the look: what is written from here on ends the wait after it.
    const deafen = news.hear(key, wake);
    signal?.addEventListener("abort", wake, { once: true });
    try {
      const progress = await store.get(key);
      const { percent, stage, state } = progress ?? {};
      const shown = JSON.stringify([percent, stage, state]);
      if (progress !== undefined && shown !== seen) {
        seen = shown;
        yield progress;
        if (state !== "running") return;
      }
      await pause(pollMs, over.signal);
    } finally {
      deafen();
      signal?.removeEventListener("abort", wake);
    }
  }
}
