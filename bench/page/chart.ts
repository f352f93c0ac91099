/** A comparison as bars. Drawn here and not in the browser: the page stays small, and shows the same in ten years. */
import { init } from "echarts";
import type { ComparisonResult } from "../measure.js";
import { rounded } from "../rounded.js";
import { type Html, raw } from "./html.js";
import { type Kind, kindOf } from "./kinds.js";

const colours: Readonly<Record<Kind, string>> = { postrider: "#1f6f8b", peer: "#d08c3c", "plain SQL": "#b8bfc6" };

export function chartOf({ measurements, unit, title }: ComparisonResult): Html {
  const chart = init(null, null, { renderer: "svg", ssr: true, width: 960, height: 64 + 32 * measurements.length });
  const backwards = [...measurements].reverse();
  // Where contenders are far apart a linear axis shows one bar and nothing else.
  const values = measurements.map(({ median }) => median).filter((value) => value > 0);
  const isWide = Math.max(...values) / Math.min(...values) > 50;
  chart.setOption({
    animation: false,
    aria: { enabled: true, label: { description: title } },
    grid: { left: 8, right: 80, top: 8, bottom: 28, containLabel: true },
    xAxis: {
      type: isWide ? "log" : "value",
      name: isWide ? `${unit}; each line is ten times the one before` : unit,
      nameLocation: "middle",
      nameGap: 26,
    },
    yAxis: { type: "category", data: backwards.map(({ contender }) => contender) },
    series: {
      type: "bar",
      data: backwards.map(({ contender, median }) => ({
        value: median,
        itemStyle: { color: colours[kindOf(contender)] },
      })),
      label: { show: true, position: "right", formatter: ({ value }: { value: unknown }) => rounded(Number(value)) },
    },
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return raw(svg);
}
