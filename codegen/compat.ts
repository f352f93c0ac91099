/** The compatibility gate on one screen: pair the queues -> compare schemas -> compare settings -> drop what is ignored. */
import type { Earlier } from "./compat/earlier.js";
import { covers, type IgnoreEntry, readIgnores } from "./compat/ignore.js";
import { placeOfMessagePointer } from "./compat/message-place.js";
import { compareSettings } from "./compat/settings-rules.js";
import { compareSchemas, unchanged, type Verdict } from "./compat/verdict.js";
import type { LoadedSchemas, Place } from "./load.js";
import { buildModel, type QueueModel, queuesOnly } from "./model.js";
import { valueAt } from "./pointer.js";
import { type Problem, sortProblems } from "./problem.js";
import { Report } from "./report.js";
import { settingsPointer } from "./settings.js";

/** One thing the gate has to say about one queue. */
export interface CompatFinding extends Omit<Problem, "severity"> {
  readonly severity: "error" | "warning";
  readonly queue: string;
  /** The base that it breaks with. */
  readonly against: string;
  /** Absent for settings. */
  readonly direction?: "backward" | "forward";
  /** Into the message, or below `x-queue` for settings. */
  readonly pointer: string;
  /** A message that one side publishes and the other refuses. */
  readonly witness?: unknown;
}

/** The gate's answer. */
export interface CompatReport {
  readonly compatible: boolean;
  readonly findings: readonly CompatFinding[];
  /** What is wrong with the schemas themselves, or with the ignore file. */
  readonly problems: readonly Problem[];
  readonly ignored: number;
  readonly queues: number;
}

/** Compares two sets of schemas. `today` (`YYYY-MM-DD`) decides which ignore entries still count. */
export function compareModels(of: { before: LoadedSchemas; after: LoadedSchemas; today: string }): CompatReport {
  const past: Earlier = { name: "the base", queues: queuesOnly(of.before), settings: true };
  return compareWithAll({ earlier: [past], after: of.after, today: of.today });
}

/** Compares with every base: what is safe after the last change may still break with a message of an earlier one. */
export function compareWithAll(of: { earlier: readonly Earlier[]; after: LoadedSchemas; today: string }): CompatReport {
  const after = buildModel(of.after);
  const report = new Report();
  const ignores = readIgnores(of.after.files, of.today, report);
  const problems = sortProblems([...after.problems, ...report.problems]);
  if (problems.some((problem) => problem.severity === "error")) {
    return { compatible: false, findings: [], problems, ignored: 0, queues: after.queues.length };
  }
  const all = of.earlier.flatMap((past) =>
    past.queues.flatMap((queue) =>
      compareQueue(queue, after.queues, past).map((finding) => ({ ...finding, against: past.name })),
    ),
  );
  const findings = all.filter((finding) => !ignores.some((entry: IgnoreEntry) => covers(entry, finding)));
  const compatible = !findings.some((finding) => finding.severity === "error");
  return { compatible, findings, problems, ignored: all.length - findings.length, queues: after.queues.length };
}

type QueueFinding = Omit<CompatFinding, "against">;

function compareQueue(before: QueueModel, queues: readonly QueueModel[], past: Earlier): QueueFinding[] {
  const after =
    queues.find((queue) => queue.name === before.name) ??
    queues.find((queue) => queue.settings.aliases.includes(before.name));
  if (after === undefined) return [removedFinding(before, past.batches)];
  const raised = after.settings.version > before.settings.version;
  const examples = [before, after].flatMap(({ file }) => {
    const list = valueAt(file.json.value, "/examples");
    return Array.isArray(list) ? list : [];
  });
  const verdicts =
    before.schemaHash === after.schemaHash
      ? unchanged
      : compareSchemas({ before: before.bundle, after: after.bundle, examples });
  const known = compareSettings(before, after).filter(({ pointer }) => past.settings || pointer === "/version");
  const settings = known.map((finding): QueueFinding => {
    const place = { file: after.file, pointer: settingsPointer + finding.pointer };
    return { ...finding, ...positionOf(place), queue: after.name };
  });
  return [
    ...messageFindings({ queue: after, direction: "backward", verdict: verdicts.backward }),
    // Nodes that only know the old version leave newer rows alone, so nothing reaches a consumer that cannot read it.
    ...(raised ? [] : messageFindings({ queue: after, direction: "forward", verdict: verdicts.forward })),
    ...settings,
  ];
}

const sentences = {
  backward: "a message published under the old schema is refused by the new one",
  forward: "a message published under the new schema is refused by nodes that still run the old one",
} as const;

const hints = {
  backward: "accept the old form too; or publish to a new queue and drain this one",
  forward: 'raise "x-queue": { "version" }: old nodes leave newer rows alone; or deploy consumers first',
} as const;

function messageFindings(of: {
  queue: QueueModel;
  direction: "backward" | "forward";
  verdict: Verdict;
}): QueueFinding[] {
  const { queue, direction, verdict } = of;
  if (verdict.outcome === "compatible") return [];
  const common = { severity: "error", queue: queue.name, direction, hint: hints[direction] } as const;
  if (verdict.outcome === "unknown") {
    const message = `${direction}: not proven compatible, and no counter-example was found; treated as breaking`;
    return [{ ...common, ...positionOf({ file: queue.file, pointer: "" }), rule: "unknown", pointer: "", message }];
  }
  return verdict.witnesses.map((witness) => {
    const place = placeOfMessagePointer(queue.file, witness.pointer);
    const at = witness.pointer === "" ? "the message" : witness.pointer;
    const message = `${direction}: ${sentences[direction]}, at ${at} (${witness.keyword})`;
    const rule = `message-${witness.keyword.replaceAll(" ", "-")}`;
    return { ...common, ...positionOf(place), rule, pointer: witness.pointer, message, witness: witness.message };
  });
}

// Only a database knows whether a queue that is gone is empty.
function removedFinding(before: QueueModel, batches: number | undefined): QueueFinding {
  const gone = {
    queue: before.name,
    file: before.file.display,
    line: 1,
    column: 1,
    rule: "queue-removed",
    pointer: "",
  };
  const rename = `after a rename add "x-queue": { "aliases": [${JSON.stringify(before.name)}] } to the new file`;
  if (batches === 0) {
    const message = `the queue "${before.name}" is gone, and empty: nodes that still publish to it would strand messages`;
    return { ...gone, severity: "warning", message, hint: `${rename}; else deploy its publishers first` };
  }
  const held = batches === undefined ? "its messages" : `${batches} batches of it`;
  return {
    ...gone,
    severity: "error",
    message: `the queue "${before.name}" is gone: ${held} would be stranded`,
    hint: `${rename}; ${batches === undefined ? "after a drain add an ignore entry" : "else drain it first, its dead letters too"}`,
  };
}

function positionOf(place: Place): { file: string; line: number; column: number } {
  return { file: place.file.display, ...place.file.json.positionOf(place.pointer) };
}
