/** Changes of a queue's settings: what strands messages is an error, what surprises operators a warning. */
import type { QueueSettings } from "../../src/queue/queue.js";
import type { QueueModel } from "../model.js";

/** A remark about a setting. */
export interface SettingFinding {
  readonly severity: "error" | "warning";
  readonly rule: string;
  /** Below `x-queue`. */
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string;
}

/** Compares the settings of two versions of one queue. */
export function compareSettings(before: QueueModel, after: QueueModel): SettingFinding[] {
  const [old, now] = [before.settings, after.settings];
  const findings: SettingFinding[] = [];
  const warn = (rule: string, pointer: string, message: string) =>
    findings.push({ severity: "warning", rule, pointer, message });
  if (now.version < old.version) {
    findings.push({
      severity: "error",
      rule: "version-lowered",
      pointer: "/version",
      message: `version goes from ${old.version} back to ${now.version}: nodes would take rows for older than they are`,
    });
  }
  const lowered = (key: "maxAttempts" | "timeoutMs" | "staleAfterMs" | "orphanAfterMs" | "maxBatchBytes") => {
    const [from, to] = [old[key] ?? Infinity, now[key] ?? Infinity];
    if (to < from)
      warn("setting-lowered", `/${key}`, `${key} is lowered from ${from === Infinity ? "no limit" : from} to ${to}`);
  };
  for (const key of ["maxAttempts", "timeoutMs", "staleAfterMs", "orphanAfterMs", "maxBatchBytes"] as const)
    lowered(key);
  if (old.exclusive && !now.exclusive)
    warn("order-loosened", "/exclusive", "exclusive is taken off: batches may now run at the same time");
  const [kept, keeps] = [retentionOf(before), retentionOf(after)];
  if (keeps < kept) {
    const to = keeps === 0 ? "none are kept" : `${keeps} ms`;
    warn("retention-lowered", "/deadLetter", `dead letters: from ${kept} ms to ${to}`);
  } else if (kept === 0 && keeps > 0) {
    warn("dead-letter-changed", "/deadLetter", "exhausted batches were deleted and are now kept");
  }
  if (JSON.stringify(old.dedup) !== JSON.stringify(now.dedup))
    warn("dedup-changed", "/dedup", "which messages count as repeats changes");
  findings.push(...compareFlow(old, now));
  const shown = old.redact.filter((pointer) => !now.redact.includes(pointer));
  if (shown.length > 0)
    warn("redact-removed", "/redact", `${shown.join(", ")} will be shown in errors, logs and the dashboard`);
  return findings;
}

// What is stored keeps the keys it was published with.
function compareFlow(old: QueueSettings, now: QueueSettings): SettingFinding[] {
  const findings: SettingFinding[] = [];
  const warn = (rule: string, pointer: string, message: string) =>
    findings.push({ severity: "warning", rule, pointer, message });
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  if (old.orderBy !== undefined && now.orderBy === undefined)
    warn("order-loosened", "/orderBy", "orderBy is taken off: messages of one key may now run at the same time");
  else if (old.orderBy?.by !== now.orderBy?.by)
    warn("order-changed", "/orderBy", "messages that are stored already stay in the lines they were published to");
  else if (old.orderBy?.onFailure !== now.orderBy?.onFailure)
    warn(
      "order-changed",
      "/orderBy",
      `what is behind a failed message: from ${old.orderBy?.onFailure} to ${now.orderBy?.onFailure}`,
    );
  if (differs(old.unique, now.unique))
    warn("unique-changed", "/unique", "which messages exclude each other changes; what is stored keeps the key it has");
  const [most, allowed] = [old.maxInFlight ?? Infinity, now.maxInFlight ?? Infinity];
  if (allowed < most) {
    const message = `maxInFlight is lowered to ${allowed}: what is in flight drains before the next batch starts`;
    warn("setting-lowered", "/maxInFlight", message);
  }
  if (perSecond(now) < perSecond(old))
    warn("setting-lowered", "/rate", `rate is lowered to ${now.rate?.limit} messages per ${now.rate?.perMs} ms`);
  return findings;
}

function perSecond({ rate }: QueueSettings): number {
  return rate === undefined ? Infinity : (rate.limit * 1_000) / rate.perMs;
}

function retentionOf({ settings }: QueueModel): number {
  return settings.deadLetter === false ? 0 : settings.deadLetter.retentionMs;
}
