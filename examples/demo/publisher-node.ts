/** The publisher process: first single messages while the workers are idle, then everything else as fast as it goes. */
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "../../generated/index.js";
import { Watch } from "./asleep.js";
import { type Entry, Input } from "./input.js";
import { obey, type PublishedMessage, taskOfThisProcess, tell } from "./protocol.js";
import { LinePublisher } from "./publish-lines.js";

/** Single messages, and the time after each, and for which both workers have been asleep before the next. */
const idleMessages = 200;
const idleGapMs = 10;
/** Lines published at a time, and how many times at once. */
const chunkLines = 50;
const lanes = 8;
/** Every fourth chunk is one transaction. */
const transactionEvery = 4;

const { connectionString, schema, node, input: file, messages: wanted } = taskOfThisProcess();
const mq = createClient({ connectionString, schema, node });
const input = new Input(file);
const publisher = new LinePublisher(mq, input);
const limit = wanted ?? Number.POSITIVE_INFINITY;

let stored = 0;
let underWay = 0;
let chunks = 0;
let deduplicated = 0;
let stopping = false;
mq.on("deduplicated", ({ messages }) => {
  deduplicated += messages;
});

// Without a number of messages the file is read once.
const entries = input.entries(() => wanted !== undefined);

async function publishIdle(): Promise<void> {
  const count = Math.min(idleMessages, Math.ceil(limit / 5));
  const watch = new Watch(connectionString, schema);
  await watch.start();
  while (stored < count && !stopping) {
    const [entry] = await take(1);
    if (entry === undefined) break;
    await watch.untilAsleep(entry.queue);
    await pause(idleGapMs);
    const message = await publisher.alone(entry);
    if (message !== undefined) note([message]);
    // To ask the database at once whether they sleep would take the machine from those who are to be measured.
    await pause(idleGapMs);
  }
  await watch.stop();
  tell({ name: "idleDone" });
}

async function publishBulk(): Promise<void> {
  await Promise.all(Array.from({ length: lanes }, publishChunks));
  await mq.flush();
  tell({ name: "bulkDone", refusals: input.refusals, deduplicated });
}

async function publishChunks(): Promise<void> {
  for (;;) {
    const room = Math.min(chunkLines, limit - stored - underWay);
    if (room <= 0 || stopping) return;
    underWay += room;
    try {
      const chunk = await take(room);
      if (chunk.length === 0) return;
      await publishChunk(chunk);
    } finally {
      underWay -= room;
    }
  }
}

async function publishChunk(chunk: readonly Entry[]): Promise<void> {
  chunks += 1;
  if (chunks % transactionEvery === 0) return note(await publisher.together(chunk));
  const results = await Promise.all(chunk.map((entry) => publisher.alone(entry)));
  note(results.filter((message) => message !== undefined));
}

let lastTake: Promise<unknown> = Promise.resolve();

// One after another, so that a chunk is a stretch of the file: repeated ids stand close together there.
function take(count: number): Promise<readonly Entry[]> {
  const taken = lastTake.then(() => takeNow(count));
  lastTake = taken;
  return taken;
}

async function takeNow(count: number): Promise<readonly Entry[]> {
  const taken: Entry[] = [];
  while (taken.length < count) {
    const { value, done } = await entries.next();
    if (done === true) break;
    taken.push(value);
  }
  return taken;
}

function note(messages: readonly PublishedMessage[]): void {
  // Repeats that dedup dropped do not count: so many messages are to be delivered.
  const keys = messages.map(({ seq, dedupKey }) => dedupKey ?? seq);
  stored += new Set(keys).size;
  tell({ name: "published", messages });
}

function failing(work: () => Promise<void>): () => Promise<void> {
  return () =>
    work().catch((error: unknown) => {
      // Stopped in the middle: what was not published yet is refused by the client, as it should be.
      if (stopping) return;
      process.stderr.write(`${node}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    });
}

obey({
  publishIdle: failing(publishIdle),
  publishBulk: failing(publishBulk),
  stop: async () => {
    stopping = true;
    await mq.stop();
    process.exit();
  },
});
tell({ name: "counted", lines: await input.countLines() });
