/** Fake time for a test that waits for delays, retries or schedules: `node:test`'s mocked timers, and the clock with them. */
import type { TestContext } from "node:test";
import { realPause, realTurn } from "./real-time.js";

/** Turns of the event loop after which everything that a timer has set off has come to rest, on the memory backend. */
const turnsToRest = 50;
const stepMs = 20;

/** Moves the time of the test that has mocked it, one test at a time; undefined where time is real. */
let moving: ((ms: number) => Promise<void>) | undefined;

/** Lets so much time pass: real time, or that of the test that has mocked it, where nothing would come of waiting. */
export async function letTimePass(ms: number): Promise<void> {
  await (moving === undefined ? realPause(ms) : moving(ms));
}

/** Waits for something that waits for timers itself, such as a client's end. */
export async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
  let over = moving === undefined;
  const done = work.finally(() => {
    over = true;
  });
  done.catch(() => undefined);
  while (!over) await letTimePass(stepMs);
  return await done;
}

/** Time that stands still until it is moved. */
export interface FakeTime {
  /** Moves time on, step by step, and lets what falls due run. Steps of a second at most. */
  advance(ms: number): Promise<void>;
}

/**
 * Mocks the timers, `Date` and the monotonic clock for this test; they are restored at its end. Call it before `withTestMq`.
 * Only for the memory backend: a database has a clock of its own. `settled()` and `waitForIdle()` move time by 20 ms between
 * two looks, as if they waited. One test of a process at a time: the clock is the process's own.
 */
export function fakeTime(
  t: Pick<TestContext, "mock" | "after">,
  { now = Date.now() }: { readonly now?: number } = {},
): FakeTime {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now });
  // The clock that spans are measured on is not among what node:test can mock.
  t.mock.method(performance, "now", () => Date.now() - performance.timeOrigin);
  const rest = async () => {
    for (let turn = 0; turn < turnsToRest; turn += 1) await realTurn();
  };
  const advance = async (ms: number) => {
    await rest();
    for (let left = ms; left > 0; left -= 1_000) {
      t.mock.timers.tick(Math.min(left, 1_000));
      await rest();
    }
  };
  moving = advance;
  t.after(() => {
    if (moving === advance) moving = undefined;
  });
  return { advance };
}
