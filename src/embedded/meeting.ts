/**
 * How the processes of one directory find its keeper: a few ports computed from the directory, and a proof that the other
 * side knows the password. A bound port is a lock that the system releases however its owner dies; a lock file is not.
 */
import { createHash, createHmac } from "node:crypto";
import type { Socket } from "node:net";

/** Ports of one directory, in the order in which they are tried: a stranger may sit on the first. */
export function meetingPorts(directory: string): readonly number[] {
  const digest = createHash("sha256").update(directory).digest();
  // Below 32,768, where systems begin to hand out ports for outgoing connections.
  return Array.from({ length: 8 }, (_, index) => 14_000 + (digest.readUInt32BE(index * 4) % 18_000));
}

/** What one side says to prove to the other that it knows the password. */
export function proof(password: string, nonce: string): string {
  return createHmac("sha256", password).update(nonce).digest("hex");
}

/** What a client says: first who it is, last that it leaves. */
export interface ClientWord {
  readonly nonce?: string;
  readonly proof?: string;
  /** It only wants to know who is there, and does not use the server. */
  readonly asks?: boolean;
  readonly leave?: true;
}

/** What the keeper says: who it is, at once; then that the server is ready, or why it is not. It hangs up to say goodbye. */
export interface KeeperWord {
  readonly proof?: string;
  readonly port?: number;
  readonly error?: string;
}

/** Sends one line of JSON; a peer that is gone is noticed by its `close` event. */
export function say(socket: Socket, word: object): void {
  if (socket.writable) socket.write(`${JSON.stringify(word)}\n`);
}

/** Calls `hear` with each line of JSON; hangs up on a stranger who speaks something else or never ends a line. */
export function onWord<T>(socket: Socket, hear: (word: T) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > 10_000) return void socket.destroy();
    for (const line of lines) {
      const word = parsed(line);
      if (word === undefined) return void socket.destroy();
      hear(word as T);
    }
  });
}

function parsed(line: string): object | undefined {
  try {
    const word: unknown = JSON.parse(line);
    return typeof word === "object" && word !== null ? word : undefined;
  } catch {
    return undefined;
  }
}
