/** The scenarios of the test files; they run side by side, and each has a limit of time. Those of no group are in behaviour.test.ts. */
export const throughputScenarios: readonly string[] = [
  "publish",
  "drain",
  "publish-while-consuming",
  "batch-handler",
  "many-queues",
  "notify-cost",
  "backlog",
];

export const clusterScenarios: readonly string[] = [
  "concurrent-consumers",
  "exclusive-gap",
  "stale-recovery",
  "round-trips",
  "sustained",
];
