/** The account as people read it. */
import Table from "cli-table3";
import type { Account } from "./account.js";
import type { Refusal } from "./protocol.js";

const refusalsShown = 20;

export function reportText(account: Account): string {
  const { latencyMs, wakeups, idle, bulk, crash } = account;
  const table = new Table({
    colAligns: ["left", "right"],
    // Without lines between the rows.
    chars: { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" },
    style: { border: [] },
  });
  const rate = Math.round((bulk.messages / bulk.drainMs) * 1_000);
  table.push(
    ["published", count(account.published)],
    ...Object.entries(account.perNode).map(([node, messages]) => [`  delivered by ${node}`, count(messages)]),
    ["refused", count(account.refused)],
    ["deduplicated", count(account.deduplicated)],
    ["lost", count(account.lost)],
    ["duplicates", count(account.duplicates)],
    [`latency across nodes, idle (${idle.messages} messages): p50`, milliseconds(latencyMs.p50)],
    ["  p99", milliseconds(latencyMs.p99)],
    ["woken by notify", count(wakeups.notify)],
    ["  by poll", count(wakeups.poll)],
    ["  by a freed slot", count(wakeups.slot)],
    ["  by a timer", count(wakeups.timer)],
    ["bulk: messages a second, published and handled", count(rate)],
  );
  if (crash !== undefined) {
    table.push(
      [`batches that ${crash.node} held when it was killed`, count(crash.batchesInFlight)],
      ["  all in a handler elsewhere after", milliseconds(crash.recoveredAfterMs)],
    );
  }
  const problems = account.problems.map((problem) => `PROBLEM: ${problem}\n`).join("");
  return `${table.toString()}\n${problems}`;
}

/** A line per refusal, as compilers write them. */
export function refusalText(refusals: readonly Refusal[]): string {
  const lines = [...refusals]
    .sort((a, b) => a.line - b.line)
    .slice(0, refusalsShown)
    .map(({ file, line, pointer, error }) => `${file}:${line}: ${pointer === "" ? "" : `${pointer}: `}${error}\n`);
  const more = refusals.length - lines.length;
  return `${lines.join("")}${more > 0 ? `… and ${more} more lines refused\n` : ""}`;
}

function count(value: number): string {
  return value.toLocaleString("en");
}

function milliseconds(value: number | null): string {
  return value === null ? "none" : `${value.toLocaleString("en")} ms`;
}
