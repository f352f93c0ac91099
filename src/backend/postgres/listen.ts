/** One session that hears notifications, and what else must live on that session: its node's life and the SLEEP locks. */
import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { Lease } from "../../batch/batch.js";
import { within } from "../../time.js";
import type { ListenEvents, ListenSession } from "../backend.js";
import { answersOf, leaseArrays } from "./rows.js";
import type { SchemaName } from "./schema-name.js";
import { createListeningClient, type ListeningClient } from "./subscriber.js";

const statementTimeoutMs = 5_000;

// A vanished host is noticed in about twelve seconds, so that its node's life lock does not outlive it by hours. A probe
// that meets another waits for microseconds; two seconds mean something is badly wrong.
const sessionSettings =
  "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3; " +
  "set lock_timeout = '2s'; set idle_session_timeout = 0";

/** A channel of this process's own, on which it hears its own nonces. */
export function echoChannel(): string {
  return `postrider_echo_${randomBytes(6).toString("hex")}`;
}

/** Connects and LISTENs. Rejects where that fails; afterwards `onDown` tells the end. */
export async function openListenSession(
  config: pg.ClientConfig,
  schema: SchemaName,
  echo: string,
  events: ListenEvents,
): Promise<ListenSession> {
  const listening = createListeningClient({
    ...config,
    application_name: "postrider listen",
    connectionTimeoutMillis: statementTimeoutMs,
    query_timeout: statementTimeoutMs,
  });
  const { subscriber, client } = listening;
  let onStop: () => void = () => undefined;
  const session = new Session(listening, schema, () => events.signal.removeEventListener("abort", onStop));
  subscriber.notifications.on(schema.name, (payload) => {
    if (payload.startsWith("%")) events.onProgress?.(payload.slice(1));
    else if (session.isAsleepOn(payload)) events.onWake(payload.endsWith("!"));
  });
  subscriber.notifications.on(echo, (nonce) => events.onEcho(nonce));
  const down = new Promise<never>((_, reject) => {
    subscriber.events.on("error", reject);
    // The first loss ends this session; the listener opens a new one.
    subscriber.events.on("reconnect", () => reject(new Error("the LISTEN connection was lost")));
    onStop = () => reject(events.signal.reason);
    events.signal.addEventListener("abort", onStop);
    if (events.signal.aborted) onStop();
  });
  down.catch(() => undefined);
  try {
    await within(Promise.race([subscriber.connect(), down]), 2 * statementTimeoutMs, "connecting for LISTEN");
    await Promise.race([client.query(sessionSettings), down]);
    await Promise.race([subscriber.listenTo(schema.name), down]);
    await Promise.race([subscriber.listenTo(echo), down]);
  } catch (error) {
    await session.close();
    throw error;
  }
  down.catch((error: Error) => {
    void session.close();
    events.onDown(error);
  });
  return session;
}

class Session implements ListenSession {
  readonly #listening: ListeningClient;
  readonly #functions: string;
  /** Keys held, once per lock taken: advisory locks are counted. */
  #keys: number[] = [];
  readonly #onClose: () => void;
  #closing: Promise<void> | undefined;
  /** The end of the line of statements. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(listening: ListeningClient, schema: SchemaName, onClose: () => void) {
    this.#listening = listening;
    this.#onClose = onClose;
    this.#functions = schema.quoted;
  }

  /** Whether a notification (`17`, `17!`) is for a queue this session sleeps on. */
  isAsleepOn(payload: string): boolean {
    return this.#keys.includes(Number.parseInt(payload, 10));
  }

  async fallAsleep(queues: readonly string[]): Promise<void> {
    const [row] = await this.#query(`select ${this.#functions}.fall_asleep($1) as keys`, [queues]);
    this.#keys.push(...((row?.keys ?? []) as number[]));
  }

  async rise(): Promise<void> {
    const keys = this.#keys;
    if (keys.length === 0) return;
    this.#keys = [];
    await this.#query(`select ${this.#functions}.rise($1)`, [keys]);
  }

  async liveAs(owner: string): Promise<void> {
    await this.#query(`select pg_advisory_lock_shared(7303, ${this.#functions}.owner_key($1))`, [owner]);
    await this.#query(
      `update ${this.#functions}.node set session_at = coalesce(session_at, clock_timestamp()) where owner = $1`,
      [owner],
    );
  }

  async heartbeat(leases: readonly Lease[]) {
    return answersOf(await this.#query(`select * from ${this.#functions}.heartbeat($1, $2, $3)`, leaseArrays(leases)));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { subscriber, client } = this.#listening;
    this.#onClose();
    // Late errors of a connection that is being dropped are nobody's business; unheard, they would end the process.
    subscriber.events.removeAllListeners("error");
    subscriber.events.on("error", () => undefined);
    client.on("error", () => undefined);
    // A polite goodbye waits for an answer that a dead network never gives.
    await within(Promise.resolve(subscriber.close()), 1_000, "closing the LISTEN connection").catch(() => {
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    });
  }

  // One at a time, in the order asked: pg 9 no longer queues statements of one client itself.
  #query(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    const turn = this.#tail.then(() => this.#listening.client.query(text, values));
    this.#tail = turn.catch(() => undefined);
    return turn.then(({ rows }) => rows);
  }
}
