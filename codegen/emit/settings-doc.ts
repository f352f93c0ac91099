/** A queue's settings in words, for hovers. */
import type { QueueSettings } from "../../src/queue/queue.js";

/** One list item per thing worth knowing before calling. */
export function settingsLines(settings: QueueSettings): string[] {
  const { deadLetter, dedup, buffer } = settings;
  const bound = `at most ${settings.maxBatchMessages} messages a call`;
  return [
    `- ${settings.exclusive ? "exclusive: one batch in flight in the whole cluster; " : ""}${bound}`,
    `- ${settings.maxAttempts} deliveries, then ${deadLetter === false ? "deleted" : "dead letters"}`,
    ...(settings.timeoutMs === undefined ? [] : [`- a handler call may take ${settings.timeoutMs} ms`]),
    ...(dedup === undefined ? [] : [`- repeats dropped by ${dedup.by.join(", ")}, the ${dedup.keep} is kept`]),
    ...(buffer === "adaptive" ? [] : [`- buffer: ${buffer === false ? "none" : `${buffer.windowMs} ms`}`]),
    ...(settings.schedule ?? []).map(({ cron, timeZone }) => `- scheduled: ${cron} (${timeZone})`),
    ...(settings.version === 1 ? [] : [`- version ${settings.version} of the message`]),
  ];
}
