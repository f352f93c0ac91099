/** The table of what the product promises, what was measured, and whether it held. */
import type { JudgedPledge } from "../measure.js";
import { promises } from "../promises.js";
import { pledgeText, type Report } from "../report.js";
import { type Html, html } from "./html.js";

interface Judged {
  readonly comparison: string;
  readonly pledge: JudgedPledge;
}

export function kept(reports: readonly Report[]): Html {
  const judged = reports.flatMap(({ results }) =>
    results.flatMap(({ title, pledges }) => pledges.map((pledge): Judged => ({ comparison: title, pledge }))),
  );
  const rows = promises.map(({ name, says, scenario }) =>
    row(
      says,
      reports.some((report) => report.scenario === scenario)
        ? html`<a class="note" href="#${scenario}">${scenario}</a>`
        : html`<span class="note">${scenario}</span>`,
      judged.filter(({ pledge }) => pledge.promise === name),
    ),
  );
  return html`<h2 id="promises">What postrider promises of its speed, and whether it held</h2>
<p>The promises were written down before they were measured. Where one names several loads, it held only if it did under each.</p>
<table data-table="promises"><tr><th class="words">promised</th><th class="words">measured</th><th class="words">held?</th></tr>${rows}</table>`;
}

function row(says: string, place: Html, judged: readonly Judged[]): Html {
  const [verdict, colour] =
    judged.length === 0
      ? ["not measured", "open"]
      : judged.every(({ pledge }) => pledge.kept)
        ? ["held", "good"]
        : ["NOT HELD", "bad"];
  const measured = judged.map(
    ({ comparison, pledge }) =>
      html`<div class="${pledge.kept ? "" : "bad"}">${comparison}: ${pledgeText(pledge)}</div>`,
  );
  return html`<tr><td class="words">${says} ${place}</td><td class="words">${measured}</td><td class="words tag ${colour}">${verdict}</td></tr>`;
}
