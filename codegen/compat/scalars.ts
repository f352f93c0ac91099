/** Values near the borders of scalar keywords: what a counter-example is most likely made of. */
import { isSchemaObject, type SchemaObject } from "../schema.js";

const formatSamples: Readonly<Record<string, string>> = {
  date: "2026-01-02",
  time: "03:04:05Z",
  "date-time": "2026-01-02T00:00:00Z",
  "iso-time": "03:04:05",
  "iso-date-time": "2026-01-02T00:00:00",
  duration: "P1D",
  uri: "https://example.org/a",
  "uri-reference": "/a",
  "uri-template": "/{a}",
  url: "https://example.org/a",
  email: "a@example.org",
  hostname: "example.org",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  regex: "^a$",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  "json-pointer": "/a/b",
  "relative-json-pointer": "0/a",
  byte: "YQ==",
};

/** Strings, numbers and constants worth trying, from every schema that speaks of the value. */
export function scalarCandidates(hints: readonly SchemaObject[]): unknown[] {
  return [
    ...hints.flatMap((hint) => [
      "const" in hint ? hint.const : undefined,
      ...(Array.isArray(hint.enum) ? hint.enum : []),
    ]),
    ...stringCandidates(hints),
    ...numberCandidates(hints),
    null,
    true,
    false,
  ].filter((value) => value !== undefined);
}

function stringCandidates(hints: readonly SchemaObject[]): string[] {
  const lengths = hints
    .flatMap((hint) => [hint.minLength, hint.maxLength])
    .filter((n): n is number => typeof n === "number");
  const near = lengths
    .flatMap((length) => [length - 1, length, length + 1])
    .filter((length) => length >= 0 && length < 5_000);
  const formats = hints.flatMap((hint) => (typeof hint.format === "string" ? [formatSamples[hint.format] ?? ""] : []));
  const patterns = hints.flatMap((hint) => (typeof hint.pattern === "string" ? patternSamples(hint.pattern) : []));
  const words = ["x", "", "a", "b", "zz", "7", "A", "AB", "abc"];
  return [
    ...formats,
    ...patterns,
    ...words,
    ...near.map((length) => "a".repeat(length)),
    ...Object.values(formatSamples),
  ];
}

/** Strings that a simple pattern matches: its literal text, with one character for each class. */
export function patternSamples(pattern: string): string[] {
  const body = pattern.replace(/^\^/, "").replace(/\$$/, "");
  const classes = body
    .replace(/\\d|\[0-9\]/g, "7")
    .replace(/\\w|\\p\{L\}|\[a-z[^\]]*\]/gi, (match) => (/\[A-Z/.test(match) ? "A" : "a"))
    .replace(/\\s/g, " ")
    .replace(/\[([^\]\\^])[^\]]*\]/g, "$1");
  const repeated = classes.replace(/(.)\{(\d+)(?:,\d*)?\}/g, (_, char: string, count: string) =>
    char.repeat(Math.min(Number(count), 200)),
  );
  const plain = repeated.replace(/[+*?]/g, "").replace(/\\(.)/g, "$1");
  const first = plain.split("|")[0]?.replace(/[()]/g, "").replace(/^\?:/, "") ?? "";
  return [...new Set([first, `${first}a`, `${first}7`, `a${first}`])];
}

function numberCandidates(hints: readonly SchemaObject[]): number[] {
  const keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
  const bounds = hints.flatMap((hint) => keywords.map((keyword) => hint[keyword])).filter((n) => typeof n === "number");
  const near = bounds.flatMap((bound) => [bound, bound - 1, bound + 1, bound - 0.5, bound + 0.5, bound * 2, bound * 3]);
  return [7, 0, 1, -1, 1.5, 2, ...near];
}

/** The array and object bounds that schemas name, and their neighbours. */
export function sizeCandidates(hints: readonly SchemaObject[], keywords: readonly string[]): number[] {
  const bounds = hints.flatMap((hint) => keywords.map((keyword) => hint[keyword])).filter((n) => typeof n === "number");
  const near = [0, 1, 2, ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1])];
  return [...new Set(near)].filter((size) => size >= 0 && size <= 64).sort((a, b) => a - b);
}

/** Every schema that a schema is made of, for the same value: branches, conditions and negations too. */
export function hintsOf(schemas: readonly unknown[], resolve: (ref: string) => unknown): SchemaObject[] {
  const hints: SchemaObject[] = [];
  const seen = new Set<unknown>();
  const visit = (schema: unknown): void => {
    if (!isSchemaObject(schema) || seen.has(schema) || hints.length > 64) return;
    seen.add(schema);
    hints.push(schema);
    if (typeof schema.$ref === "string") visit(resolve(schema.$ref));
    for (const keyword of ["allOf", "anyOf", "oneOf"])
      if (Array.isArray(schema[keyword])) schema[keyword].forEach(visit);
    for (const keyword of ["if", "then", "else", "not"]) visit(schema[keyword]);
    for (const keyword of ["dependentSchemas", "dependencies"]) {
      if (isSchemaObject(schema[keyword])) Object.values(schema[keyword]).forEach(visit);
    }
  };
  schemas.forEach(visit);
  return hints;
}
