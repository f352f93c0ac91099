import { testQueue } from "../support/queue-definition.js";

/** A queue for each of five steps. */
export const chainQueues = [0, 1, 2, 3, 4].map((step) =>
  testQueue(`step-${step}`, { concurrency: 1, orphanAfterMs: 1_500, maxAttempts: 1_000 }),
);
