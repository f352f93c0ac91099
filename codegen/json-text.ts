/**
 * Strict JSON with positions. `JSON.parse` names no place on Node 20, keeps the last of two equal keys without a word and
 * has no bound on depth; schema files need all three.
 */
import { childPointer } from "./pointer.js";

/** Nesting that no message schema needs; keeps every later recursion far from the end of the stack. */
const maxDepth = 128;

/** Where something stands in a text, counted from 1. Columns are UTF-16 units, as editors count them. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a JSON text, and where. */
export interface JsonFault extends TextPosition {
  readonly rule: "json" | "duplicate-key" | "too-deep" | "key-name";
  readonly message: string;
  readonly hint?: string;
}

/** A parsed text. `faults` is empty when the text is sound. */
export interface JsonText {
  readonly value: unknown;
  readonly faults: readonly JsonFault[];
  /** The place of a property's key, an element's value, or the root; the nearest ancestor where the pointer leads nowhere. */
  positionOf(pointer: string): TextPosition;
}

class SyntaxFault extends Error {
  constructor(
    readonly offset: number,
    message: string,
    readonly rule: JsonFault["rule"] = "json",
  ) {
    super(message);
  }
}

/** Parses a whole file's text. Never throws: what is wrong comes back as `faults`. */
export function parseJsonText(text: string): JsonText {
  const parser = new Parser(text);
  const faults: JsonFault[] = [];
  const places = lineFinder(text);
  let value: unknown;
  try {
    value = parser.document();
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    faults.push({ ...places(error.offset), rule: error.rule, message: error.message });
  }
  for (const fault of parser.keyFaults) {
    const { offset, first, ...rest } = fault;
    const hint = first === undefined ? {} : { hint: `first at ${placeText(places(first))}` };
    faults.push({ ...places(offset), ...rest, ...hint });
  }
  return { value, faults, positionOf: (pointer) => places(nearest(parser.offsets, pointer)) };
}

function placeText({ line, column }: TextPosition): string {
  return `${line}:${column}`;
}

function nearest(offsets: ReadonlyMap<string, number>, pointer: string): number {
  let current = pointer;
  while (current !== "") {
    const offset = offsets.get(current);
    if (offset !== undefined) return offset;
    current = current.slice(0, current.lastIndexOf("/"));
  }
  return offsets.get("") ?? 0;
}

function lineFinder(text: string): (offset: number) => TextPosition {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

interface KeyFault {
  readonly offset: number;
  readonly rule: JsonFault["rule"];
  readonly message: string;
  readonly first?: number;
}

class Parser {
  readonly offsets = new Map<string, number>();
  readonly keyFaults: KeyFault[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    this.#space();
    this.offsets.set("", this.#at);
    const value = this.#value("", 0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected("the end of the file");
    return value;
  }

  #value(pointer: string, depth: number): unknown {
    if (depth > maxDepth) throw new SyntaxFault(this.#at, `nested deeper than ${maxDepth} levels`, "too-deep");
    const char = this.#text[this.#at];
    if (char === "{") return this.#object(pointer, depth);
    if (char === "[") return this.#array(pointer, depth);
    if (char === '"') return this.#string();
    return this.#scalar();
  }

  #object(pointer: string, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const seen = new Map<string, number>();
    this.#at += 1;
    this.#space();
    if (this.#take("}")) return result;
    do {
      this.#space();
      const offset = this.#at;
      if (this.#text[offset] !== '"') throw this.#unexpected("a property name in double quotes");
      const key = this.#string();
      this.#noteKey(key, offset, seen);
      const child = childPointer(pointer, key);
      this.offsets.set(child, offset);
      this.#space();
      if (!this.#take(":")) throw this.#unexpected('":"');
      this.#space();
      const value = this.#value(child, depth + 1);
      // Assigning `__proto__` would set the prototype instead of a key.
      if (key !== "__proto__") result[key] = value;
      this.#space();
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#unexpected('"," or "}"');
    return result;
  }

  #noteKey(key: string, offset: number, seen: Map<string, number>): void {
    const quoted = JSON.stringify(key);
    if (key === "__proto__") {
      const message = 'the key "__proto__" changes an object\'s prototype wherever it is copied; rename it';
      this.keyFaults.push({ offset, rule: "key-name", message });
    }
    const first = seen.get(key);
    if (first === undefined) seen.set(key, offset);
    else
      this.keyFaults.push({ offset, first, rule: "duplicate-key", message: `${quoted} appears twice in this object` });
  }

  #array(pointer: string, depth: number): unknown[] {
    const result: unknown[] = [];
    this.#at += 1;
    this.#space();
    if (this.#take("]")) return result;
    do {
      this.#space();
      const child = `${pointer}/${result.length}`;
      this.offsets.set(child, this.#at);
      result.push(this.#value(child, depth + 1));
      this.#space();
    } while (this.#take(","));
    if (!this.#take("]")) throw this.#unexpected('"," or "]"');
    return result;
  }

  #string(): string {
    const start = this.#at;
    let at = start + 1;
    let plain = true;
    for (; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) break;
      if (code === 0x5c) {
        plain = false;
        at += 1;
      } else if (code < 0x20) throw new SyntaxFault(at, "a control character must be escaped in a string");
    }
    if (at >= this.#text.length) throw new SyntaxFault(start, "this string does not end");
    this.#at = at + 1;
    return plain ? this.#text.slice(start + 1, at) : (this.#literal(start) as string);
  }

  #scalar(): unknown {
    const start = this.#at;
    scalarToken.lastIndex = start;
    const token = scalarToken.exec(this.#text)?.[0];
    if (token === undefined) throw this.#unexpected("a value");
    this.#at = start + token.length;
    return this.#literal(start);
  }

  // One token at a time through JSON.parse, so that escapes and numbers are exactly JSON's.
  #literal(start: number): unknown {
    try {
      return JSON.parse(this.#text.slice(start, this.#at));
    } catch {
      throw new SyntaxFault(start, `${JSON.stringify(this.#text.slice(start, start + 20))} is no JSON value`);
    }
  }

  #space(): void {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    }
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(wanted: string): SyntaxFault {
    const char = this.#text[this.#at];
    return new SyntaxFault(
      this.#at,
      `expected ${wanted}, found ${char === undefined ? "the end of the file" : JSON.stringify(char)}`,
    );
  }
}

const scalarToken = /[-+.\w]+/y;
