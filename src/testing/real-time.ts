/** The timers there were when the kit was loaded: waiting for a client goes on while a test mocks the timers. */
const { setTimeout: startTimer, setImmediate: startImmediate } = globalThis;
const realNow = performance.now.bind(performance);

export function realPause(ms: number): Promise<void> {
  return new Promise((resolve) => startTimer(resolve, ms));
}

/** Resolves when everything that could run has run. */
export function realTurn(): Promise<void> {
  return new Promise((resolve) => startImmediate(resolve));
}

export function realMs(): number {
  return realNow();
}
