/** The demo's result: the verdict, how fast it was, and everything that was not as it should be. */
import type { CrashReport } from "./crash.js";
import type { Stand } from "./drained.js";
import type { PublishedMessage, Refusal } from "./protocol.js";
import type { Receipt } from "./receipts.js";
import { judge, quantile, type Verdict } from "./verdict.js";
import type { Wakeups } from "./wakeups.js";

export interface Account extends Verdict {
  readonly refused: number;
  /** From the publisher's call to the handler's start, of single messages published while both workers were idle. */
  readonly latencyMs: { readonly p50: number | null; readonly p99: number | null };
  /** How often a look for work found some, by what made the worker look. */
  readonly wakeups: Wakeups;
  readonly idle: { readonly messages: number; readonly wakeups: Wakeups };
  readonly bulk: { readonly messages: number; readonly publishMs: number; readonly drainMs: number };
  readonly crash?: CrashReport;
  readonly refusals: readonly Refusal[];
  /** Empty: everything was as it should be. */
  readonly problems: readonly string[];
}

export interface AccountParams {
  readonly published: readonly PublishedMessage[];
  readonly receipts: readonly Receipt[];
  readonly nodes: readonly string[];
  readonly refusals: readonly Refusal[];
  /** As the publisher's runtime counted it. */
  readonly deduplicated: number;
  readonly stand: Stand;
  readonly idle: { readonly messages: readonly number[]; readonly wakeups: Wakeups };
  readonly bulk: { readonly messages: number; readonly publishMs: number; readonly drainMs: number };
  readonly wakeups: Wakeups;
  readonly crash?: CrashReport;
}

export function account(params: AccountParams): Account {
  const { published, receipts, nodes, refusals, idle, bulk, wakeups } = params;
  const verdict = judge(published, receipts, nodes);
  const idleSeqs = new Set(idle.messages);
  const latencies = receipts.filter(({ seq }) => idleSeqs.has(seq)).map(({ latencyMs }) => latencyMs);
  return {
    ...verdict,
    refused: refusals.length,
    latencyMs: { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) },
    wakeups,
    idle: { messages: idle.messages.length, wakeups: idle.wakeups },
    bulk: { ...bulk, publishMs: Math.round(bulk.publishMs), drainMs: Math.round(bulk.drainMs) },
    ...(params.crash === undefined ? {} : { crash: params.crash }),
    refusals,
    problems: problemsOf(verdict, params),
  };
}

function problemsOf(verdict: Verdict, { stand, deduplicated, crash }: AccountParams): readonly string[] {
  const problems: string[] = [];
  const note = (isProblem: boolean, text: string) => isProblem && problems.push(text);
  note(verdict.published === 0, "nothing was published");
  note(verdict.lost > 0, `${verdict.lost} messages were lost`);
  note(verdict.damaged > 0, `${verdict.damaged} messages arrived changed`);
  note(verdict.unexpected > 0, `${verdict.unexpected} messages arrived that should not have been stored`);
  note(stand.batches > 0, `${stand.batches} batches still waited or ran when nothing had moved for a while`);
  note(stand.dead > 0, `${stand.dead} batches were given up`);
  note(
    verdict.deduplicated !== deduplicated,
    `the runtime dropped ${deduplicated} repeats, ${verdict.deduplicated} were due`,
  );
  note(
    crash !== undefined && crash.batchesInFlight > 0 && crash.recoveredAfterMs === null,
    "a batch of the killed worker never ran elsewhere",
  );
  return problems;
}
