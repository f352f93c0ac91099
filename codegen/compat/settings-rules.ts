/** Changes of a queue's settings: what strands messages is an error, what surprises operators a warning. */
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
  const shown = old.redact.filter((pointer) => !now.redact.includes(pointer));
  if (shown.length > 0)
    warn("redact-removed", "/redact", `${shown.join(", ")} will be shown in errors, logs and the dashboard`);
  return findings;
}

function retentionOf({ settings }: QueueModel): number {
  return settings.deadLetter === false ? 0 : settings.deadLetter.retentionMs;
}
