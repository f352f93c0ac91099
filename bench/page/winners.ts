/** The table of who won, for whoever reads nothing else. */
import type { ComparisonResult, Measurement } from "../measure.js";
import type { Report } from "../report.js";
import { rounded } from "../rounded.js";
import { type Html, html } from "./html.js";
import { bestOf, type Kind, kindOf, timesBetter } from "./kinds.js";

const winnerColours: Readonly<Record<Kind, string>> = { postrider: "good", peer: "bad", "plain SQL": "note" };

export function winners(reports: readonly Report[]): Html {
  const rows = reports.flatMap(({ scenario, results }) =>
    // Of one system alone nobody wins.
    results
      .filter(({ measurements }) => new Set(measurements.map(({ contender }) => kindOf(contender))).size > 1)
      // Variants of it answer another question, and the best of them may be one that nobody runs.
      .filter(({ measurements }) => measurements.some(({ contender }) => contender === "postrider"))
      .map((result) => row(scenario, result)),
  );
  return html`<h2 id="who-won">Who won</h2>
<p>Of each comparison between systems: postrider, the best of the other queues, and plain SQL as the floor. Where the last column is below 1,
another queue was better than postrider. What compares variants of postrider is not in this table.</p>
<table data-table="winners"><tr><th class="words">scenario</th><th class="words">comparison</th><th class="words">unit</th><th>postrider</th><th>best other queue</th>
<th>plain SQL</th><th class="words">best of all</th><th>postrider, times as good as the best other queue</th></tr>${rows}</table>`;
}

function row(scenario: string, result: ComparisonResult): Html {
  const { title, unit, better, winner } = result;
  const [own, peer, floor] = [bestOf(result, "postrider"), bestOf(result, "peer"), bestOf(result, "plain SQL")];
  const times = own && peer && timesBetter(better, own.median, peer.median);
  return html`<tr><td class="words"><a href="#${scenario}">${scenario}</a></td><td class="words">${title}</td><td class="words">${unit}; ${better} is better</td>
<td>${figure(own)}</td><td>${figure(peer)}</td><td>${figure(floor)}</td>
<td class="words ${winnerColours[kindOf(winner)]}">${winner}</td><td class="tag ${times === undefined ? "" : times < 1 ? "bad" : "good"}">${times === undefined ? "" : `${rounded(times)} ×`}</td></tr>`;
}

/** With the contender's name, where it is not just the column's. */
function figure(measurement: Measurement | undefined): Html {
  if (measurement === undefined) return html``;
  const { contender, median } = measurement;
  return html`${rounded(median)}${contender === "postrider" ? "" : html`<br><span class="note">${contender}</span>`}`;
}
