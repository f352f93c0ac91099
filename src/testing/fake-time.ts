/** Fake time for a test that waits for delays, retries or schedules: `node:test`'s mocked timers, and the clock with them. */
import type { TestContext } from "node:test";
import { realTurn } from "./real-time.js";

/** Turns of the event loop after which everything that a timer has set off has come to rest, on the memory backend. */
const turnsToRest = 50;

/** Time that stands still until it is moved. */
export interface FakeTime {
  /** Moves time on, step by step, and lets what falls due run. Steps of a second at most. */
  advance(ms: number): Promise<void>;
}

/**
 * Mocks the timers, `Date` and the monotonic clock for this test; they are restored at its end. Call it before `withTestMq`.
 * Only for the memory backend: a database has a clock of its own.
 */
export function fakeTime(t: Pick<TestContext, "mock">, { now = Date.now() }: { readonly now?: number } = {}): FakeTime {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now });
  // The clock that spans are measured on is not among what node:test can mock.
  t.mock.method(performance, "now", () => Date.now() - performance.timeOrigin);
  const rest = async () => {
    for (let turn = 0; turn < turnsToRest; turn += 1) await realTurn();
  };
  return {
    async advance(ms) {
      await rest();
      for (let left = ms; left > 0; left -= 1_000) {
        t.mock.timers.tick(Math.min(left, 1_000));
        await rest();
      }
    },
  };
}
