/** `.d.ts.map`: what makes "go to definition" land in the schema file. */
import type { TextPosition } from "../json-text.js";
import { compareText } from "../problem.js";
import { generatedMapKey } from "./header.js";

/** One name in the declarations, and where it comes from. Generated lines and columns count from 0, as source maps do. */
export interface Mapping {
  readonly line: number;
  readonly column: number;
  /** The schema file, relative to the declaration file. */
  readonly source: string;
  readonly position: TextPosition;
}

/** The text of a source map, version 3. */
export function sourceMapText(file: string, mappings: readonly Mapping[]): string {
  const sources = [...new Set(mappings.map((mapping) => mapping.source))].sort(compareText);
  const encoded = encodeMappings(mappings, new Map(sources.map((source, index) => [source, index])));
  const map = { version: 3, file, sources, names: [], mappings: encoded, [generatedMapKey]: "postrider" };
  return `${JSON.stringify(map)}\n`;
}

function encodeMappings(mappings: readonly Mapping[], sources: ReadonlyMap<string, number>): string {
  const sorted = [...mappings].sort((a, b) => a.line - b.line || a.column - b.column);
  let [line, column, source, sourceLine, sourceColumn] = [0, 0, 0, 0, 0];
  let text = "";
  for (const mapping of sorted) {
    const fresh = mapping.line > line;
    if (fresh) {
      text += ";".repeat(mapping.line - line);
      [line, column] = [mapping.line, 0];
    }
    const next = sources.get(mapping.source) ?? 0;
    const [toLine, toColumn] = [mapping.position.line - 1, mapping.position.column - 1];
    if (!fresh && text !== "" && !text.endsWith(";")) text += ",";
    text += vlq(mapping.column - column) + vlq(next - source) + vlq(toLine - sourceLine) + vlq(toColumn - sourceColumn);
    [column, source, sourceLine, sourceColumn] = [mapping.column, next, toLine, toColumn];
  }
  return text;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function vlq(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += digits[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}
