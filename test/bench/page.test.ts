/** The report page in a real browser: somebody who has never seen the project finds who won, and what was promised. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import type { ComparisonResult, JudgedPledge, Measurement } from "../../bench/measure.js";
import { pageOf } from "../../bench/page.js";
import type { Report } from "../../bench/report.js";

const run = promisify(execFile);
const browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) =>
  existsSync(file),
);

function measurement(contender: string, median: number): Measurement {
  return { contender, median, lowest: median - 1, highest: median + 1, ratio: 1, also: { "p99, ms": 7 } };
}

function comparison(title: string, own: number, peer: number, pledges: readonly JudgedPledge[] = []): ComparisonResult {
  const measurements = [
    measurement("plain SQL, a row a message", 50),
    measurement("postrider", own),
    measurement("pg-boss", peer),
  ];
  const winner = own > peer ? "postrider" : "pg-boss";
  return { title, unit: "messages/s", better: "more", repeats: 5, measurements, failed: [], winner, pledges };
}

const broken: JudgedPledge = {
  promise: "publish-one",
  contender: "postrider",
  bound: 5_000,
  better: "more",
  measured: 400,
  kept: false,
};
const report: Report = {
  scenario: "publish",
  description: "Orders are stored; <nobody> consumes.",
  at: "2026-12-01T00:00:00.000Z",
  commit: "abc1234",
  machine: { cpu: "a processor", cores: 2 },
  server: { server_version: "18.1", fsync: "on" },
  settings: { size: "full", measureMs: 2_000 },
  systems: { postrider: "0.1.0", "pg-boss": "12.0.0" },
  systemsRunOn: "v24.0.0",
  results: [comparison("64 awaiting callers", 400, 100, [broken]), comparison("1 awaiting caller", 100, 400)],
};

/** What the browser makes of the page, as HTML. */
async function loaded(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "report-"));
  try {
    const file = join(folder, "report.html");
    await writeFile(file, pageOf([report]));
    const flags = [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      `--user-data-dir=${folder}/profile`,
    ];
    return (await run(browser as string, [...flags, "--dump-dom", `file://${file}`], { maxBuffer: 2 ** 25 })).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function rowsOf(page: string, table: string): readonly string[] {
  const [, inside = ""] = page.match(new RegExp(`<table data-table="${table}">([\\s\\S]*?)</table>`)) ?? [];
  return [...inside.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = ""]) =>
    row
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

test("the page says in a browser who won, also where a peer did, and what did not hold", {
  skip: browser === undefined ? "no Chromium here" : false,
  timeout: 60_000,
}, async () => {
  const page = await loaded();
  const [, won, lost] = rowsOf(page, "winners");
  assert.match(won ?? "", /64 awaiting callers .*400 100 pg-boss 50 plain SQL, a row a message postrider 4 ×$/);
  assert.match(lost ?? "", /1 awaiting caller .*100 400 pg-boss 50 plain SQL, a row a message pg-boss 0\.25 ×$/);
  const promised = rowsOf(page, "promises");
  assert.match(
    promised.find((row) => row.startsWith("One awaiting publisher")) ?? "",
    /400 \(at least 5,000\) NOT HELD$/,
  );
  assert.match(promised.find((row) => row.includes("ten million")) ?? "", /not measured$/);
  // What was run, on what, with which settings.
  for (const wanted of [
    "Orders are stored; &lt;nobody&gt; consumes.",
    "a processor",
    "fsync on",
    "pg-boss 12.0.0",
    "abc1234",
    "Median of 5",
  ]) {
    assert.ok(page.includes(wanted), wanted);
  }
  assert.equal(page.match(/<svg/g)?.length, 2);
});
