/** The report page: everything in `bench/results/`, with charts, as one HTML file that needs nothing else. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Html, html, raw } from "./page/html.js";
import { kept } from "./page/kept.js";
import { scenarioSection } from "./page/scenario-section.js";
import { style } from "./page/style.js";
import { winners } from "./page/winners.js";
import { type Report, resultsFolder } from "./report.js";

/** @returns the file */
export async function savePage(): Promise<string> {
  const file = join(resultsFolder, "report.html");
  await writeFile(file, pageOf(await readReports()));
  return file;
}

async function readReports(): Promise<readonly Report[]> {
  const names = (await readdir(resultsFolder)).filter((name) => name.endsWith(".json")).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(resultsFolder, name), "utf8")));
  return texts.map((text) => JSON.parse(text) as Report).filter(({ results }) => Array.isArray(results));
}

export function pageOf(reports: readonly Report[]): string {
  const scenarios = [...new Set(reports.map(({ scenario }) => scenario))].map((name) =>
    reports.filter(({ scenario }) => scenario === name),
  );
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>postrider: benchmarks</title>
<style>${raw(style)}</style>
<h1>postrider: benchmarks</h1>
${introduction(reports)}
<nav>${scenarios.map(([first]) => html`<a href="#${first?.scenario}">${first?.scenario}</a> `)}</nav>
${winners(reports)}
${kept(reports)}
${scenarios.map(scenarioSection)}
</html>
`.text;
}

function introduction(reports: readonly Report[]): Html {
  const systems = Object.entries(
    Object.assign({}, ...reports.map((report) => report.systems)) as Record<string, string>,
  );
  const places = new Set(
    reports.map(
      ({ machine: { cpu, cores, memoryGiB }, server: { server_version: version, fsync, synchronous_commit } }) =>
        `${cores} cores (${cpu}), ${memoryGiB} GiB, PostgreSQL ${version} with fsync ${fsync} and synchronous_commit ${synchronous_commit}, both on that machine`,
    ),
  );
  return html`<p>postrider is a message queue that lives in PostgreSQL, for Node. Here it does the same jobs as other queues on PostgreSQL
(${systems
    .filter(([name]) => name !== "postrider")
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")}) and as plain SQL written by hand.</p>
<ul>
<li>In each comparison every system does one job, in turn, in one run: on the same server with the same durability, with the same orders of
about 600 bytes, the same number of processes, the same version of Node. Each is set up as its own documentation advises for speed.</li>
<li>A figure is the median of several turns; a first turn that warms up does not count. Each table says of how many, and from what to what they went.</li>
<li>Absolute figures are those of one machine, named with them. What carries over to others is <b>how many times</b> faster one is than another.</li>
<li><b>Plain SQL is the floor and not a competitor</b>: an INSERT, a DELETE … SKIP LOCKED. It validates nothing, retries nothing, and loses what a
process holds when it dies. postrider validates every message twice.</li>
</ul>
<p><b>Measured on</b>: ${[...places].join("; ")}. What each run was set to stands below its figures.</p>`;
}
