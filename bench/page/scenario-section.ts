/** One scenario: what was done, on what, with which settings, and what came of it. */
import type { ComparisonResult } from "../measure.js";
import { pledgeText, type Report } from "../report.js";
import { rounded } from "../rounded.js";
import { chartOf } from "./chart.js";
import { type Html, html } from "./html.js";

/** @param reports - of one scenario, each a run of its own */
export function scenarioSection(reports: readonly Report[]): Html {
  const [{ scenario, description } = { scenario: "", description: "" }] = reports;
  return html`<section id="${scenario}"><h2>${scenario}</h2><p>${description}</p>
${reports.map((report) => html`${report.results.map(comparison)}${conditions(report)}`)}</section>`;
}

function comparison(result: ComparisonResult): Html {
  const { title, unit, better, repeats, measurements, failed = [], winner, pledges } = result;
  const also = Object.keys(measurements[0]?.also ?? {});
  const head = ["median", "lowest to highest", "ratio to the first", ...also];
  const rows = measurements.map(({ contender, median, lowest, highest, ratio, also: more }) => {
    const cells = [
      rounded(median),
      `${rounded(lowest)} to ${rounded(highest)}`,
      rounded(ratio),
      ...also.map((name) => rounded(more[name] ?? Number.NaN)),
    ];
    return html`<tr class="${contender === winner ? "best" : ""}"><td class="words">${contender}</td>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
  });
  const left = failed.length === 0 ? "" : ` Failed, and so left out: ${failed.join(", ")}.`;
  return html`<h3>${title}</h3><p class="note">${unit}; ${better} is better. ${repeats === 1 ? "One measurement" : `Median of ${repeats}`}. Best: <b>${winner}</b>.${left}</p>
<figure>${chartOf(result)}</figure>
<table><tr><th class="words"></th>${head.map((cell) => html`<th>${cell}</th>`)}</tr>${rows}</table>
${pledges.map((pledge) => html`<p class="note"><span class="tag ${pledge.kept ? "good" : "bad"}">${pledge.kept ? "held" : "NOT HELD"}</span> ${pledgeText(pledge)}</p>`)}`;
}

function conditions({ at, commit, machine, server, settings, systems, systemsRunOn }: Report): Html {
  const list = (pairs: object) =>
    Object.entries(pairs)
      .map(([key, value]) => `${key} ${value}`)
      .join(", ");
  const items = {
    machine: list(machine),
    PostgreSQL: list(server),
    settings: list(settings),
    versions: list(systems),
    "Node of the systems": systemsRunOn,
    measured: `${at}, commit ${commit}`,
  };
  return html`<details open><summary>On what, with which settings</summary><dl>${Object.entries(items).map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}</dl></details>`;
}
