/** Half of the scenarios, so that two test files run side by side. */
export const throughputScenarios: readonly string[] = [
  "publish",
  "drain",
  "publish-while-consuming",
  "batch-handler",
  "many-queues",
  "notify-cost",
  "backlog",
];
