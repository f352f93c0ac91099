/** JSON Lines into a queue, in order, with flat memory, and an account of every line. */
import { encodeMessage } from "../batch/payload.js";
import { PostriderError } from "../errors.js";
import { validateOutgoing } from "../publish/validate.js";
import type { QueueDefinition } from "../queue/queue.js";

/** A line that is not a message of the queue. */
export interface RefusedLine {
  readonly line: number;
  readonly code: string;
  /** JSON Pointer to the value at fault; "" is the whole line. */
  readonly pointer: string;
  readonly message: string;
}

/** What became of the lines. Every one that was read is in exactly one of the counts; empty ones in none. */
export interface Account {
  /** Stored, or fit to be where nothing is to be stored. */
  stored: number;
  refused: number;
  /** Fit, and yet not stored: the database refused them or was away too long. */
  failed: number;
  firstFailedLine?: number;
  failure?: unknown;
  /** The last line that was read. */
  lastLine: number;
  /** False: reading stopped before the end. */
  complete: boolean;
}

export interface PublishLinesParams {
  readonly definition: QueueDefinition;
  readonly lines: AsyncIterable<string>;
  /** Stores one message; absent: they are only checked. */
  readonly publish: ((message: unknown) => Promise<unknown>) | undefined;
  /** Stop at the first line that is refused. */
  readonly strict: boolean;
  readonly signal: AbortSignal;
  onRefused(refused: RefusedLine): void;
  onProgress(): void;
}

// Held at once, with the answers outstanding. Enough to fill the largest statement of the publish buffer.
const portionLines = 5_000;
const portionBytes = 8 * 1024 * 1024;

interface Portion {
  readonly numbers: number[];
  readonly messages: unknown[];
  bytes: number;
}

export async function publishLines(params: PublishLinesParams): Promise<Account> {
  const account: Account = { stored: 0, refused: 0, failed: 0, lastLine: 0, complete: false };
  let portion: Portion = { numbers: [], messages: [], bytes: 0 };
  for await (const line of params.lines) {
    if (params.signal.aborted) return await publishPortion(params, account, portion);
    account.lastLine += 1;
    if (line.trim() === "") continue;
    const read = readLine(params.definition, account.lastLine, line);
    if (read.refused !== undefined) {
      account.refused += 1;
      params.onRefused(read.refused);
      if (params.strict) return await publishPortion(params, account, portion);
      continue;
    }
    portion.numbers.push(account.lastLine);
    portion.messages.push(read.message);
    portion.bytes += line.length;
    if (portion.messages.length < portionLines && portion.bytes < portionBytes) continue;
    await publishPortion(params, account, portion);
    params.onProgress();
    if (account.failed > 0) return account;
    portion = { numbers: [], messages: [], bytes: 0 };
  }
  await publishPortion(params, account, portion);
  params.onProgress();
  account.complete = account.failed === 0 && !params.signal.aborted;
  return account;
}

async function publishPortion(params: PublishLinesParams, account: Account, portion: Portion): Promise<Account> {
  const { publish } = params;
  if (publish === undefined) {
    account.stored += portion.messages.length;
    return account;
  }
  const outcomes = await Promise.allSettled(portion.messages.map((message) => publish(message)));
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === "fulfilled") {
      account.stored += 1;
      continue;
    }
    account.failed += 1;
    account.firstFailedLine ??= portion.numbers[index] as number;
    account.failure ??= outcome.reason;
  }
  return account;
}

function readLine(
  definition: QueueDefinition,
  line: number,
  text: string,
): { readonly message: unknown; readonly refused?: RefusedLine } {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (error) {
    // Where, and not what: the parser quotes the line, which may hold what the queue never shows.
    const place = / at position (\d+)/.exec(String(error))?.[1];
    const what = place === undefined ? "not JSON" : `not JSON at character ${Number(place) + 1}`;
    return { message, refused: { line, code: "ERR_MESSAGE_INVALID", pointer: "", message: what } };
  }
  try {
    const { bytes, value } = encodeMessage(definition.name, message);
    validateOutgoing(definition, bytes, value);
    return { message };
  } catch (error) {
    if (!(error instanceof PostriderError)) throw error;
    const { pointer } = error.details as { readonly pointer?: unknown };
    const refused = {
      line,
      code: error.code,
      pointer: typeof pointer === "string" ? pointer : "",
      message: error.message,
    };
    return { message, refused };
  }
}
