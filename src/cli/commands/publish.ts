/** `postrider publish <queue> [file.jsonl]`: one message a line, from a file or standard input. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { createRuntime } from "../../create-runtime.js";
import type { QueueDefinition } from "../../queue/queue.js";
import { errorLine } from "../error-line.js";
import { generatedQueue } from "../generated-queues.js";
import { type ProgressBar, progressBar } from "../progress-bar.js";
import { type Account, type PublishLinesParams, publishLines } from "../publish-lines.js";
import { type DatabaseOptions, databaseCommand, withDatabase } from "../with-database.js";

interface PublishFlags extends DatabaseOptions {
  readonly generated: string;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The command, with its options. */
export function publishCommand(): Command {
  return databaseCommand("publish")
    .description(
      "Publish JSON Lines, in order. Lines that do not fit the queue's schema are refused and the others stored. No line is\n" +
        "dropped as a repeat of another.",
    )
    .argument("<queue>", "name or identifier of the queue")
    .argument("[file]", "one JSON message a line; absent or -: standard input")
    .option("--generated <folder>", "where codegen has written the queues", "generated")
    .option("--strict", "stop at the first line that is refused; what stands before it is stored")
    .option("--dry-run", "check every line and store nothing")
    .option("--json", "print one JSON object per refused line and one at the end")
    .action(run);
}

async function run(queue: string, file: string | undefined, flags: PublishFlags): Promise<void> {
  const definition = await generatedQueue(flags.generated, queue);
  const path = file === "-" ? undefined : file;
  const bytes = path === undefined ? undefined : (await stat(path)).size;
  const input = path === undefined ? process.stdin : createReadStream(path);
  const progress = await progressBar(flags.json === true ? undefined : bytes);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
  let seen = 0;
  const onBytes = (count: number) => {
    seen += count;
  };
  const params: Omit<PublishLinesParams, "publish"> = {
    definition,
    lines: linesOf(input, onBytes, stop.signal),
    strict: flags.strict === true,
    signal: stop.signal,
    onRefused: (refused) => {
      if (flags.json === true) return void process.stdout.write(`${JSON.stringify({ refused })}\n`);
      const pointer = refused.pointer === "" ? "" : ` ${refused.pointer}`;
      progress.say(`line ${refused.line}${pointer}: ${refused.code}: ${refused.message}`);
    },
    onProgress: () => progress.at(seen),
  };
  try {
    if (flags.dryRun === true)
      tell(await publishLines({ ...params, publish: undefined }), 0, flags, definition, progress);
    else await withDatabase(flags, (connectionString) => store(params, connectionString, flags, progress));
  } finally {
    progress.end();
    input.destroy();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
  }
}

// The reader is made when the first line is asked for: what it reads before anybody listens is lost.
async function* linesOf(
  input: NodeJS.ReadableStream,
  onBytes: (count: number) => void,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  // A pipe that says nothing would keep it waiting.
  const close = () => reader.close();
  signal.addEventListener("abort", close, { once: true });
  input.on("data", (chunk: Buffer | string) => onBytes(chunk.length));
  try {
    yield* reader;
  } finally {
    signal.removeEventListener("abort", close);
    reader.close();
  }
}

async function store(
  params: Omit<PublishLinesParams, "publish">,
  connectionString: string,
  flags: PublishFlags,
  progress: ProgressBar,
): Promise<void> {
  // Its own buffer may wait for a window or write each message by itself; here they always come in bulk, and in order.
  const { definition } = params;
  const inBulk: QueueDefinition = { ...definition, settings: { ...definition.settings, buffer: "adaptive" } };
  const mq = createRuntime({ connectionString, schema: flags.schema, queues: [inBulk] });
  let unknown = 0;
  mq.on("publishUnknown", ({ messages }) => {
    unknown += messages;
  });
  const { publish } = mq.queue(definition.name);
  try {
    tell(
      await publishLines({ ...params, publish: (message) => publish(message) }),
      unknown,
      flags,
      definition,
      progress,
    );
  } finally {
    await mq.stop();
  }
}

function tell(
  account: Account,
  unknown: number,
  flags: PublishFlags,
  { name }: QueueDefinition,
  progress: ProgressBar,
): void {
  progress.end();
  const { stored, refused, failed, failure, firstFailedLine, lastLine, complete } = account;
  if (refused > 0 || failed > 0 || !complete) process.exitCode = 1;
  if (flags.json === true) {
    const error = failure === undefined ? {} : { error: errorLine(failure), firstFailedLine };
    const counts = { queue: name, dryRun: flags.dryRun === true, stored: flags.dryRun === true ? 0 : stored };
    const fit = flags.dryRun === true ? { fit: stored } : {};
    const end = { ...counts, ...fit, refused, failed, storedTwiceAtMost: unknown, lastLine, complete, ...error };
    process.stdout.write(`${JSON.stringify(end)}\n`);
    return;
  }
  const done = flags.dryRun === true ? `${stored} fit, nothing was stored` : `${stored} stored`;
  const sentences = [`${name}: ${done}, ${refused} refused`];
  if (failed > 0) sentences.push(`${failed} not stored, from line ${firstFailedLine} on: ${errorLine(failure)}`);
  if (unknown > 0) sentences.push(`up to ${unknown} may be stored twice: their connection was cut before it answered`);
  if (!complete) sentences.push(`stopped after line ${lastLine}: nothing behind it was looked at`);
  process.stdout.write(`${sentences.join("\n")}\n`);
}
