/** What commands print: columns for people, one JSON object a line for programs. */

/** Rows under a heading, each column as wide as its widest cell. */
export function printColumns(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A span in its largest unit: `42 s`, `3 h`. */
export function spanText(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
  ] as const;
  const [unit, size] = units.find(([, least]) => ms >= 2 * least) ?? ["s", 1_000];
  return `${Math.max(0, Math.round(ms / size))} ${unit}`;
}

/** The first line, shortened. */
export function firstLine(text: string, length = 100): string {
  const [line = ""] = text.split("\n");
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
