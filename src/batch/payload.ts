/** Messages to text and back, face to face: encoded once where they are published, decoded once where they are delivered. */
import { PostriderError } from "../errors.js";
import { jsonFormOf, nameOf, type Unserializable, unserializableIn } from "./json-form.js";

/** String metadata beside a message. */
export type Headers = Readonly<Record<string, string>>;

/** A message as JSON. */
export interface EncodedMessage {
  readonly json: string;
  readonly bytes: number;
}

/**
 * Encodes one message now, so that later changes to the caller's object change nothing (P1).
 *
 * @returns `value`: what the JSON reads back as, which is what must be validated; the message itself where that is the same
 * @throws PostriderError `ERR_MESSAGE_NOT_SERIALIZABLE` with the path of what JSON cannot hold
 */
export function encodeMessage(queue: string, message: unknown): EncodedMessage & { readonly value: unknown } {
  let json: string | undefined;
  try {
    json = JSON.stringify(message);
  } catch (cause) {
    // A cycle, a bigint, a throwing toJSON, or nesting deeper than the stack.
    throw notSerializable(queue, unserializableIn(message) ?? { path: "", what: String(cause) }, cause);
  }
  if (json === undefined) throw notSerializable(queue, { path: "", what: nameOf(message) });
  const form = jsonFormOf(message);
  if (typeof form === "object") throw notSerializable(queue, form);
  return { json, bytes: Buffer.byteLength(json), value: form === "same" ? message : JSON.parse(json) };
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
