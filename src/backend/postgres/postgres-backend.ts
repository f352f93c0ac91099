/**
 * The backend on PostgreSQL. Every verb is one call of one SQL function (migrations/functions); this file binds parameters
 * and maps rows. Functions keep their plans per session, so no named prepared statements are needed and a transaction
 * pooler works.
 */
import type { Lease, NewBatch } from "../../batch/batch.js";
import type { QueueDefinition } from "../../queue/queue.js";
import type { SqlExecutor } from "../../transaction/executors.js";
import type {
  Backend,
  DeadBatch,
  Division,
  FailedBatch,
  HeartbeatAnswer,
  ListenEvents,
  ListenSession,
  OpenTransaction,
  PartialSettlement,
  PollRequest,
  PollResult,
  RegistryDifference,
  Settling,
  Stored,
  TransactionOptions,
} from "../backend.js";
import type { Inspector } from "../inspector.js";
import type { ProgressStore } from "../progress-store.js";
import type { ScheduleBook } from "../schedule-book.js";
import { Connections } from "./connection.js";
import type { ConnectionOptions } from "./connection-options.js";
import { insertAll, insertOne, insertPortions, isPlain } from "./insert.js";
import { echoChannel, openListenSession } from "./listen.js";
import { checkMigrated } from "./migrate.js";
import { PostgresInspector } from "./postgres-inspector.js";
import { PostgresProgress } from "./postgres-progress.js";
import { PostgresSchedules } from "./postgres-schedules.js";
import { answersOf, batchesOf, dueIn, leaseArrays, type Report, recoveryOf } from "./rows.js";
import { type SchemaName, schemaName } from "./schema-name.js";
import { idsOf, settlingThrough } from "./settling.js";
import { isPassing, isUnanswered } from "./sqlstate.js";
import { storableText } from "./stored-text.js";
import { beginTransaction } from "./transaction.js";

/** Options of {@link PostgresBackend}: an address or a pool, and where in that database the queue lives. */
export interface PostgresBackendOptions extends Partial<ConnectionOptions> {
  /** Default `postrider`. */
  readonly schema?: string;
}

export class PostgresBackend implements Backend {
  readonly inspector: Inspector;
  readonly progress: ProgressStore;
  readonly schedules: ScheduleBook;
  readonly #connections: Connections;
  readonly #schema: SchemaName;
  readonly #settling: Settling;
  /** Publishes of this process under way. */
  #publishing = 0;
  readonly #echoChannel = echoChannel();

  /** Connects at first use. @throws PostriderError `ERR_SCHEMA_NAME` */
  constructor({ schema = "postrider", onIdleError = () => undefined, ...options }: PostgresBackendOptions) {
    this.#connections = new Connections({ ...options, onIdleError });
    this.#schema = schemaName(schema);
    this.#settling = settlingThrough(this.#connections, this.#schema.quoted);
    this.inspector = new PostgresInspector(this.#connections, this.#schema);
    this.progress = new PostgresProgress(this.#connections, this.#schema);
    this.schedules = new PostgresSchedules(this.#connections, this.#schema);
  }

  async publish(batches: readonly NewBatch[], tx?: SqlExecutor): Promise<Stored> {
    // Through a foreign executor the trigger wakes: only the caller knows when it commits.
    if (tx !== undefined) {
      return { ...(await insertAll(tx, this.#schema.quoted, insertPortions(batches), false)), announced: true };
    }
    this.#publishing += 1;
    try {
      return await this.#publishOwn(batches);
    } finally {
      this.#publishing -= 1;
    }
  }

  async #publishOwn(batches: readonly NewBatch[]): Promise<Stored> {
    const [first] = batches;
    const schema = this.#schema.quoted;
    if (first !== undefined && batches.length === 1 && isPlain(first)) {
      // A NOTIFY makes commits queue up behind each other's flush. Alone, there is nothing to queue, and it saves a round trip.
      const announced = this.#publishing === 1;
      return { ids: [await insertOne(this.#connections, schema, first, announced)], announced };
    }
    const portions = insertPortions(batches);
    if (portions.length <= 1) {
      return { ...(await insertAll(this.#connections, schema, portions, true)), announced: false };
    }
    const transaction = await this.begin();
    try {
      const inserted = await insertAll(transaction.executor, schema, portions, true);
      await transaction.commit();
      return { ...inserted, announced: false };
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  async begin(options: TransactionOptions = {}): Promise<OpenTransaction> {
    return await beginTransaction(this.#connections, this.#schema.quoted, options);
  }

  async wake(queues: readonly string[], marked: boolean): Promise<void> {
    await this.#call("wake($1, $2)", [queues, marked]);
  }

  async poll(request: PollRequest): Promise<PollResult> {
    const { wants, marks, maintain, recover, orphans, fallingAsleep, prune, refusals } = request;
    const claim = [
      wants.map(({ queue }) => queue),
      wants.map(({ limit }) => limit),
      wants.map(({ version }) => version),
      request.owner,
      request.maxBytes,
      marks.map(({ queue }) => queue),
      marks.map(({ priority }) => priority),
      marks.map(({ fromId }) => fromId),
      wants.map(({ merge }) => merge?.messages ?? 0),
      wants.map(({ merge }) => merge?.bytes ?? 0),
    ];
    // Nothing but the claim: without the function around it a tenth of the round trip is saved.
    if (!maintain && !recover && !fallingAsleep && !prune && refusals === undefined) {
      const rows = await this.#call("claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", claim);
      return { batches: batchesOf(rows), recovered: [], publishing: false, ...dueIn(rows) };
    }
    const rows = await this.#call("poll($1, $2, $3, $4, $5, $6, $7, $8, $11, $12, $13, $14, $15, $9, $10, $16, $17)", [
      ...claim,
      maintain,
      recover,
      orphans,
      fallingAsleep,
      prune,
      refusals?.fresh ?? [],
      refusals?.known ?? [],
    ]);
    const report = rows.at(-1)?.report as Report | null | undefined;
    return {
      batches: batchesOf(rows),
      recovered: (report?.recovered ?? []).map(recoveryOf),
      publishing: report?.publishing ?? false,
      scanMs: report?.scan ?? 0,
      resumed: report?.resumed ?? [],
      ...dueIn(rows, report?.due),
    };
  }

  ack(leases: readonly Lease[]): Promise<ReadonlySet<string>> {
    return this.#settling.ack(leases);
  }

  async retry(failures: readonly FailedBatch[]): Promise<ReadonlyMap<string, "delayed" | "dead" | "divide">> {
    const rows = await this.#call("retry($1, $2, $3, $4, $5)", [
      ...leaseArrays(failures.map(({ lease }) => lease)),
      failures.map(({ delayMs }) => Math.round(delayMs)),
      failures.map(({ error }) => storableText(error)),
    ]);
    return new Map(rows.map(({ id, outcome }) => [id as string, outcome as "delayed" | "dead" | "divide"]));
  }

  async deadLetter(batches: readonly DeadBatch[]): Promise<ReadonlySet<string>> {
    const rows = await this.#call("dead_letter($1, $2, $3, $4, $5) as id", [
      ...leaseArrays(batches.map(({ lease }) => lease)),
      batches.map(({ reason }) => reason),
      batches.map(({ error }) => storableText(error)),
    ]);
    return idsOf(rows);
  }

  release(leases: readonly Lease[], delayMs: number): Promise<ReadonlySet<string>> {
    return this.#settling.release(leases, delayMs);
  }

  settlePart(settlement: PartialSettlement) {
    return this.#settling.settlePart(settlement);
  }

  async divide({ lease, singles, failure }: Division): Promise<readonly string[]> {
    const rows = await this.#call("divide($1, $2, $3, $4, $5, $6, $7, $8, $9) as id", [
      lease.queue,
      lease.id,
      lease.token,
      singles.map(({ payload }) => payload),
      singles.map(({ meta }) => meta ?? null),
      singles.map(({ position }) => position),
      failure !== undefined,
      Math.round(failure?.delayMs ?? 0),
      failure === undefined ? null : storableText(failure.error),
    ]);
    return rows.map(({ id }) => id as string);
  }

  async heartbeat(leases: readonly Lease[]): Promise<ReadonlyMap<string, HeartbeatAnswer>> {
    return answersOf(await this.#call("heartbeat($1, $2, $3)", leaseArrays(leases)));
  }

  async leasesOf(owner: string): Promise<readonly Lease[]> {
    const { rows } = await this.#connections.query(
      `select queue_name, id, claim_token from ${this.#schema.quoted}.queue_message_batch where status = 'processing' and owner = $1`,
      [owner],
    );
    return rows.map(({ queue_name, id, claim_token }) => {
      return { queue: queue_name as string, id: id as string, token: claim_token as string };
    });
  }

  async register(definitions: readonly QueueDefinition[], node: string): Promise<readonly RegistryDifference[]> {
    // In one order on every node: registering locks the queues' rows one after another.
    const inOrder = [...definitions].sort((a, b) => (a.name < b.name ? -1 : 1));
    const recorded = inOrder.map(({ name, settings, schemaHash, schema }) => ({
      name,
      version: settings.version,
      schemaHash,
      schema: JSON.stringify(schema),
      settings,
    }));
    const rows = await this.#call(
      "register_queue(d.value, $2) as r (written, was_version, was_schema_hash, was_settings)",
      [JSON.stringify(recorded), node],
      "jsonb_array_elements($1::jsonb) with ordinality as d (value, place) cross join lateral",
      "d.place - 1 as place, r.*",
    );
    return rows.flatMap((row) => differenceOf(row, inOrder));
  }

  async listen(events: ListenEvents): Promise<ListenSession> {
    this.#connections.keepWarm();
    return await openListenSession(this.#connections.listenConfig(), this.#schema, this.#echoChannel, events);
  }

  async echo(nonce: string): Promise<void> {
    await this.#connections.query("select pg_notify($1, $2)", [this.#echoChannel, nonce]);
  }

  async check(): Promise<void> {
    await checkMigrated(this.#connections, this.#schema.name);
  }

  async noteNode(owner: string, name: string, versions?: Readonly<Record<string, number>>): Promise<void> {
    await this.#call("note_node($1, $2, $3)", [owner, name, versions === undefined ? null : JSON.stringify(versions)]);
  }

  isPassing(error: unknown): boolean {
    return isPassing(error);
  }

  isUnanswered(error: unknown): boolean {
    return isUnanswered(error);
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async #call(call: string, values: unknown[], from = "", select = "*"): Promise<Record<string, unknown>[]> {
    const statement = `select ${select} from ${from} ${this.#schema.quoted}.${call}`;
    const { rows } = await this.#connections.query(statement, values);
    return rows;
  }
}

function differenceOf(row: Record<string, unknown>, definitions: readonly QueueDefinition[]): RegistryDifference[] {
  const definition = definitions[Number(row.place)];
  if (definition === undefined || row.was_version === null) return [];
  const difference: RegistryDifference = {
    queue: definition.name,
    written: row.written as boolean,
    recordedVersion: row.was_version as number,
    recordedSettings: row.was_settings,
    recordedSchemaHash: row.was_schema_hash as string,
  };
  return [difference];
}
