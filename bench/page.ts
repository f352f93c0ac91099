/** The report page: everything in `bench/results/`, with charts, as one HTML file that needs nothing else. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { init } from "echarts";
import type { ComparisonResult, JudgedPledge } from "./measure.js";
import { pledgeText, type Report, resultsFolder } from "./report.js";
import { rounded } from "./rounded.js";

const colours = { product: "#1f6f8b", other: "#b8bfc6" };

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
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>postrider: benchmarks</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #22282e; }
  table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; font-size: 0.9rem; }
  th, td { text-align: right; padding: 0.25rem 0.6rem; border-bottom: 1px solid #dde2e6; }
  th:first-child, td:first-child { text-align: left; }
  .winner { font-weight: 600; }
  .kept { color: #1d7a46; } .broken { color: #b3261e; }
  svg { width: 100%; height: auto; }
  section { margin-top: 3rem; } dt { font-weight: 600; } dd { margin: 0 0 0.4rem; }
</style>
<h1>postrider: benchmarks</h1>
<p>postrider is a message queue that lives in PostgreSQL. Each scenario below gives one job to several systems in turn, on the same
server with the same durability, with the same messages and the same number of processes, in one run. A bar is the median of several
runs. Absolute figures are those of the machine named with them: what carries over are the ratios. The best of each comparison
is marked, whoever it is. Plain SQL is the floor and not a competitor: it validates nothing, retries nothing, and loses what a
process holds when it dies.</p>
<p>${reports.map(({ scenario }) => `<a href="#${scenario}">${text(scenario)}</a>`).join(" · ")}</p>
${summaryOf(reports)}
${reports.map(sectionOf).join("\n")}
</html>
`;
}

function summaryOf(reports: readonly Report[]): string {
  const rows = reports.flatMap(({ scenario, results }) =>
    results.map(({ title, winner, pledges }) => {
      const broken = pledges.filter(({ kept }) => !kept).length;
      const verdict = pledges.length === 0 ? "" : broken === 0 ? "all kept" : `${broken} of ${pledges.length} not kept`;
      return `<tr><td>${text(scenario)}</td><td>${text(title)}</td><td>${text(winner)}</td><td class="${broken === 0 ? "kept" : "broken"}">${verdict}</td></tr>`;
    }),
  );
  return `<h2>Who won</h2><table><tr><th>scenario</th><th>comparison</th><th>best</th><th>what postrider promises</th></tr>${rows.join("")}</table>`;
}

function sectionOf(report: Report): string {
  const { scenario, description, results } = report;
  return `<section id="${text(scenario)}"><h2>${text(scenario)}</h2><p>${text(description)}</p>
${results.map(comparisonOf).join("\n")}
<details><summary>On what, with which settings</summary><dl>${conditionsOf(report)}</dl></details></section>`;
}

function conditionsOf({ at, commit, machine, server, settings, systems, systemsRunOn }: Report): string {
  const list = (pairs: object) =>
    Object.entries(pairs)
      .map(([key, value]) => `${key} ${value}`)
      .join(", ");
  const items = {
    when: at,
    commit,
    machine: list(machine),
    PostgreSQL: list(server),
    settings: list(settings),
    versions: list(systems),
    "node of the systems": systemsRunOn,
  };
  return Object.entries(items)
    .map(([term, value]) => `<dt>${term}</dt><dd>${text(String(value))}</dd>`)
    .join("");
}

function comparisonOf(result: ComparisonResult): string {
  const { title, unit, better, repeats, measurements, failed = [], winner, pledges } = result;
  const also = Object.keys(measurements[0]?.also ?? {});
  const head = ["", `${unit}, median of ${repeats}`, "lowest to highest", "ratio to the first", ...also];
  const rows = measurements.map(({ contender, median, lowest, highest, ratio, also: more }) => {
    const cells = [
      contender,
      rounded(median),
      `${rounded(lowest)} to ${rounded(highest)}`,
      rounded(ratio),
      ...also.map((name) => rounded(more[name] ?? Number.NaN)),
    ];
    return `<tr${contender === winner ? ' class="winner"' : ""}>${cells.map((cell) => `<td>${text(cell)}</td>`).join("")}</tr>`;
  });
  return `<h3>${text(title)}</h3><p>${text(unit)}; ${better} is better. Best: ${text(winner)}.${failed.length === 0 ? "" : ` Failed, and so left out: ${text(failed.join(", "))}.`}</p>
${chartOf(result)}
<table><tr>${head.map((cell) => `<th>${text(cell)}</th>`).join("")}</tr>${rows.join("")}</table>
${pledges.map(pledgeOf).join("")}`;
}

function pledgeOf(pledge: JudgedPledge): string {
  return `<p class="${pledge.kept ? "kept" : "broken"}">${text(pledgeText(pledge))}</p>`;
}

// Drawn here and not in the browser: the page stays small, and shows the same in ten years.
function chartOf({ measurements, unit, title }: ComparisonResult): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, width: 960, height: 60 + 36 * measurements.length });
  const backwards = [...measurements].reverse();
  // Where contenders are far apart a linear axis shows one bar and nothing else.
  const values = measurements.map(({ median }) => median).filter((value) => value > 0);
  const isWide = Math.max(...values) / Math.min(...values) > 50;
  chart.setOption({
    animation: false,
    aria: { enabled: true, label: { description: title } },
    grid: { left: 8, right: 80, top: 8, bottom: 24, containLabel: true },
    xAxis: {
      type: isWide ? "log" : "value",
      name: isWide ? `${unit}, log` : unit,
      nameLocation: "middle",
      nameGap: 24,
    },
    yAxis: { type: "category", data: backwards.map(({ contender }) => contender) },
    series: {
      type: "bar",
      data: backwards.map(({ contender, median }) => ({
        value: median,
        itemStyle: { color: contender.startsWith("postrider") ? colours.product : colours.other },
      })),
      label: { show: true, position: "right", formatter: ({ value }: { value: unknown }) => rounded(Number(value)) },
    },
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

function text(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
