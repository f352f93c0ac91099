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
    ...flowLines(settings),
    ...(buffer === "adaptive" ? [] : [`- buffer: ${buffer === false ? "none" : `${buffer.windowMs} ms`}`]),
    ...(settings.schedule ?? []).map(({ cron, timeZone }) => `- scheduled: ${cron} (${timeZone})`),
    ...(settings.version === 1 ? [] : [`- version ${settings.version} of the message`]),
  ];
}

function flowLines({ unique, orderBy, maxInFlight, rate }: QueueSettings): string[] {
  return [
    ...(unique === undefined ? [] : [`- unique by ${unique.by.join(", ")}: repeats ${uniqueWords[unique.onConflict]}`]),
    ...(orderBy === undefined ? [] : [`- in order by ${orderBy.by}; ${orderWords[orderBy.onFailure]}`]),
    ...(maxInFlight === undefined ? [] : [`- at most ${maxInFlight} batches in flight in the whole cluster`]),
    ...(rate === undefined ? [] : [`- at most ${rate.limit} messages per ${rate.perMs} ms in the whole cluster`]),
  ];
}

const uniqueWords = { skip: "are not stored", replace: "take the place of what waits" };
const orderWords = { block: "a failed message holds up those behind it", skip: "a failed message is overtaken" };
