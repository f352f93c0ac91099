/** The library's output, indented and without the parentheses nobody asked for. Prettier would take longer than all the rest. */

/** Indents a declaration by its braces, leaves comments' words alone, ends members with semicolons. */
export function tidyDeclaration(text: string): string[] {
  const lines: string[] = [];
  let depth = 0;
  let inComment = false;
  for (const raw of text.trim().split("\n")) {
    const line: string = inComment ? raw.trim() : bareParentheses(raw.trim());
    if (line === "") continue;
    const comment = inComment || line.startsWith("/**");
    if (!comment && line.startsWith("}")) depth -= 1;
    const gap = comment && !line.startsWith("/**") ? " " : "";
    lines.push("  ".repeat(depth) + gap + (comment || line.endsWith("{") ? line : ended(line, depth)));
    if (comment) inComment = !line.endsWith("*/");
    else if (line.endsWith("{")) depth += 1;
  }
  return lines.flatMap(shortComment(lines));
}

// `{ a: string }` on several lines: members end with a semicolon, `} | {` does not.
function ended(line: string, depth: number): string {
  if (depth === 0 && line === "}") return line;
  return line.endsWith(";") ? line : `${line};`;
}

// `a: (string | null)` -> `a: string | null`, when the one pair goes around everything.
function bareParentheses(line: string): string {
  const match = /^(.*?(?:: |= ))\((.*)\)$/s.exec(line);
  if (match === null || /["'`]/.test(match[1]?.replace(/^"(?:[^"\\]|\\.)*"/, "") ?? "")) return line;
  const inner = match[2] ?? "";
  let depth = 0;
  for (const char of inner.replace(/"(?:[^"\\]|\\.)*"/g, "")) {
    if (char === "(") depth += 1;
    if (char === ")" && --depth < 0) return line;
  }
  return depth === 0 ? `${match[1]}${inner}` : line;
}

// A comment of one line stands on one line.
function shortComment(lines: readonly string[]): (line: string, index: number) => string[] {
  const opensShort = (index: number) =>
    lines[index]?.trim() === "/**" && lines[index + 2]?.trim() === "*/" && lines[index + 1] !== undefined;
  return (line, index) => {
    if (opensShort(index)) return [`${line} ${lines[index + 1]?.trim().replace(/^\* ?/, "")} */`];
    return opensShort(index - 1) || opensShort(index - 2) ? [] : [line];
  };
}
