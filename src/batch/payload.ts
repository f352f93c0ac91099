/** Messages to text and back, face to face: encoded once where they are published, decoded once where they are delivered. */
import { PostriderError } from "../errors.js";

/** String metadata beside a message. */
export type Headers = Readonly<Record<string, string>>;

/** A message as JSON. */
export interface EncodedMessage {
  readonly json: string;
  readonly bytes: number;
  /** The JSON form read back: what is validated is what is stored. */
  readonly value: unknown;
}

/**
 * Encodes one message now, so that later changes to the caller's object change nothing (P1).
 *
 * @throws PostriderError `ERR_MESSAGE_NOT_SERIALIZABLE` with the path of what JSON cannot hold
 */
export function encodeMessage(queue: string, message: unknown): EncodedMessage {
  let json: string | undefined;
  try {
    json = JSON.stringify(message);
  } catch (cause) {
    // A cycle, a bigint, a throwing toJSON, or nesting deeper than the stack: the walk below finds where.
    throw notSerializable(
      queue,
      findUnserializable(message, "", new Set()) ?? { path: "", what: String(cause) },
      cause,
    );
  }
  if (json === undefined) throw notSerializable(queue, { path: "", what: nameOf(message) });
  // JSON.stringify drops functions and symbols in silence; a replacer that sees them costs five times the walk.
  const found = findUnserializable(message, "", undefined);
  if (found !== undefined) throw notSerializable(queue, found);
  return { json, bytes: Buffer.byteLength(json), value: JSON.parse(json) };
}

/** The payload of a batch from its messages' JSON. */
export function encodePayload(messages: readonly { readonly json: string }[]): string {
  return `[${messages.map(({ json }) => json).join(",")}]`;
}

/** The `meta` of a batch from its messages' headers; undefined when none has any. */
export function encodeMeta(headers: readonly (Headers | undefined)[]): string | undefined {
  if (headers.every((entry) => entry === undefined)) return undefined;
  return JSON.stringify(headers.map((entry) => entry ?? {}));
}

/** The messages of a payload, or undefined where it is no JSON array (written by something else). */
export function decodePayload(payload: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const noHeaders: Headers = Object.freeze({});

/** One header map per message. What is missing or malformed counts as none: headers never cost a message. */
export function decodeMeta(meta: string | undefined, messageCount: number): readonly Headers[] {
  const entries = meta === undefined ? undefined : decodePayload(meta);
  return Array.from({ length: messageCount }, (_, index) => {
    const entry = entries?.[index];
    return typeof entry === "object" && entry !== null ? (entry as Headers) : noHeaders;
  });
}

interface Unserializable {
  readonly path: string;
  readonly what: string;
}

// `ancestors` only where JSON.stringify has already failed: what it accepted has no cycles.
function findUnserializable(
  value: unknown,
  path: string,
  ancestors: Set<object> | undefined,
): Unserializable | undefined {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") {
    return { path, what: nameOf(value) };
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return undefined;
  if (ancestors?.has(value)) return { path, what: "a cycle" };
  if (ancestors !== undefined && ancestors.size > 1_000) return { path: path.slice(0, 100), what: "nesting too deep" };
  ancestors?.add(value);
  const found = findInside(value, path, ancestors);
  ancestors?.delete(value);
  return found;
}

function findInside(value: object, path: string, ancestors: Set<object> | undefined): Unserializable | undefined {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = findUnserializable(value[index], `${path}/${index}`, ancestors);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    // The path is only built for what needs a closer look: strings and numbers are nearly everything.
    if (typeof inner === "string" || typeof inner === "number" || !Object.hasOwn(value, key)) continue;
    const found = findUnserializable(inner, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, ancestors);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameOf(value: unknown): string {
  if (value === undefined) return "undefined";
  return `a ${typeof value}`;
}

function notSerializable(queue: string, { path, what }: Unserializable, cause?: unknown): PostriderError {
  const place = path === "" ? "the message" : `the message at ${path}`;
  return new PostriderError(
    "ERR_MESSAGE_NOT_SERIALIZABLE",
    `queue "${queue}": ${place} is ${what}, which JSON cannot hold`,
    {
      cause,
      details: { queue, pointer: path },
    },
  );
}
