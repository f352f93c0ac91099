/**
 * What `{ tx }` expects of anything that runs SQL in a caller's transaction (T6), as checks that need no test runner: for
 * the adapters of this package and for users' own.
 */
import assert from "node:assert/strict";
import { createRuntime } from "../create-runtime.js";
import type { QueueDefinition } from "../queue/queue.js";
import type { Runtime } from "../runtime.js";
import type { SqlExecutor } from "../transaction/executors.js";

export interface ExecutorSuiteParams {
  /** A migrated database, the one the executor's library is connected to. */
  readonly connectionString: string;
  /** The database schema. Default `postrider`. */
  readonly schema?: string;
  /** Runs the body in a transaction of the library under test: commits when it resolves, rolls back when it rejects. */
  transaction(body: (tx: SqlExecutor) => Promise<void>): Promise<void>;
}

/** One thing that must hold; `run` rejects where it does not. */
export interface ExecutorCheck {
  readonly name: string;
  run(): Promise<void>;
}

interface Stored {
  readonly payload: string;
  readonly meta: string | null;
  readonly status: string;
}

const queue = "executor-suite";
const limitMs = 10_000;

/** The checks, each by itself; run them one after another. */
export function executorSuite(params: ExecutorSuiteParams): readonly ExecutorCheck[] {
  const { transaction } = params;
  const check = (name: string, body: (mq: Runtime) => Promise<void>): ExecutorCheck => ({
    name,
    run: () => withClient(params, body),
  });
  return [
    check("commit: the messages are there, in order", async (mq) => {
      const messages = Array.from({ length: 250 }, (_, number) => ({ number }));
      await transaction(async (tx) => {
        await mq.queue(queue).publish({ number: -1 }, { tx });
        await mq.queue(queue).publish.many(messages, { tx });
        assert.deepEqual(await stored(mq, params), [], "nothing may be visible before the commit");
      });
      assert.deepEqual(await messagesIn(mq, params), [{ number: -1 }, ...messages]);
    }),
    check("rollback: no row, and nobody is woken; commit: an idle node is", (mq) => wakesOnCommitOnly(mq, transaction)),
    check("headers and delay arrive", async (mq) => {
      const headers = { trace: "ü \u0000 '\"\\?$1" };
      await transaction(async (tx) => {
        await mq.queue(queue).publish({ late: true }, { tx, delayMs: 3_600_000, headers });
        await mq.queue(queue).publish({ late: "at" }, { tx, runAt: new Date(Date.now() + 3_600_000) });
      });
      const [first, second] = await stored(mq, params);
      assert.deepEqual([first?.status, second?.status], ["delayed", "delayed"]);
      assert.deepEqual(JSON.parse(first?.meta ?? ""), [headers]);
    }),
    check("every text comes back unchanged, zero characters and lone surrogates included", async (mq) => {
      const text = "\u0000 \\u0000 \ud800 😀 $1 ? ?? :name @p1 {\"'`";
      await transaction(async (tx) => void (await mq.queue(queue).publish({ text, [text]: 1 }, { tx })));
      assert.deepEqual(await messagesIn(mq, params), [{ text, [text]: 1 }]);
    }),
    check("5 MB in one message", async (mq) => {
      const text = "päckchen ".repeat(500_000);
      await transaction(async (tx) => void (await mq.queue(queue).publish({ text }, { tx })));
      assert.deepEqual(await messagesIn(mq, params), [{ text }]);
    }),
    check("values of every kind in a message, as JSON has them", async (mq) => {
      const message = {
        nested: { list: [[1, [2]], [], {}], none: null, yes: true },
        date: new Date(0),
        bytes: Buffer.from([0, 255]),
        large: String(2n ** 63n),
      };
      await transaction(async (tx) => void (await mq.queue(queue).publish(message, { tx })));
      assert.deepEqual(await messagesIn(mq, params), [JSON.parse(JSON.stringify(message))]);
    }),
    check("values of every kind as parameters, and rows as objects", () => bindsParameters(transaction)),
    check("a failing statement rejects, and its transaction leaves nothing", async (mq) => {
      const failing = transaction(async (tx) => {
        await mq.queue(queue).publish({ number: 1 }, { tx });
        await tx.query("select 1 / $1::int as quotient", [0]);
      });
      await assert.rejects(failing);
      assert.deepEqual(await stored(mq, params), []);
    }),
  ];
}

async function bindsParameters(transaction: ExecutorSuiteParams["transaction"]): Promise<void> {
  await transaction(async (tx) => {
    const json = JSON.stringify({ a: [1, { b: null }] });
    const { rows } = await tx.query(
      `select $1::text[] = array['a', 'b,"c"', '{}'] as list, $2::text::jsonb -> 'a' -> 1 = '{"b": null}' as nested,
              $3::timestamptz = 'epoch' as date, $4::bigint = 9007199254740993 as large, $5::bytea = '\\x00ff' as bytes,
              $6::text is null as absent, $7::bool as flag, $8::int = 7 as whole, $9::text = 'x' as again,
              $10::float8 = 1.5 as fraction, '?' = $11::text as mark`,
      [["a", 'b,"c"', "{}"], json, new Date(0), 9007199254740993n, Buffer.from([0, 255]), null, true, 7, "x", 1.5, "?"],
    );
    assert.equal(rows.length, 1);
    const wrong = Object.entries(rows[0] ?? {}).filter(([, is]) => is !== true);
    assert.deepEqual(wrong, [], "these parameters did not arrive as they were given");
    assert.equal(Object.keys(rows[0] ?? {}).length, 11);
    assert.deepEqual((await tx.query("select 1 as one where false")).rows, []);
    assert.deepEqual((await tx.query("select 'a' as name union all select 'b'")).rows, [{ name: "a" }, { name: "b" }]);
  });
}

async function wakesOnCommitOnly(mq: Runtime, transaction: ExecutorSuiteParams["transaction"]): Promise<void> {
  let delivered: (() => void) | undefined;
  let woken = 0;
  const received: unknown[] = [];
  mq.on("woken", ({ source }) => {
    if (source === "notify") woken += 1;
  });
  mq.queue(queue).listen(async (messages) => {
    received.push(...messages);
    delivered?.();
  });
  const nextDelivery = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("an idle node was not woken by the commit")), limitMs);
      delivered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  await mq.start();
  const wanted = new Error("rolled back on purpose");
  for (const number of [1, 2]) {
    const failing = transaction(async (tx) => {
      await mq.queue(queue).publish({ rolledBack: number }, { tx });
      throw wanted;
    });
    await assert.rejects(failing, /rolled back on purpose/);
    const arrival = nextDelivery();
    await transaction(async (tx) => void (await mq.queue(queue).publish({ committed: number }, { tx })));
    await arrival;
  }
  assert.deepEqual(received, [{ committed: 1 }, { committed: 2 }]);
  assert.ok(woken <= 2, `woken ${woken} times by two commits: a rollback must wake nobody`);
}

async function withClient(params: ExecutorSuiteParams, body: (mq: Runtime) => Promise<void>): Promise<void> {
  const { connectionString, schema = "postrider" } = params;
  // Polling would hide a wake-up that never came.
  const mq = createRuntime({ connectionString, schema, queues: [definition], pollMs: 10 * limitMs });
  try {
    await body(mq);
  } finally {
    await mq.stop();
    await forgetAll(params);
  }
}

// With a client of its own: only after its stop has the other one settled everything.
async function forgetAll(params: ExecutorSuiteParams): Promise<void> {
  const mq = createRuntime({ connectionString: params.connectionString, queues: [] });
  try {
    await mq.transaction((tx) => tx.query(`delete from ${table(params)} where queue_name = $1`, [queue]));
  } finally {
    await mq.stop();
  }
}

async function stored(mq: Runtime, params: ExecutorSuiteParams): Promise<readonly Stored[]> {
  return await mq.transaction(async (tx) => {
    const text = `select payload, meta, status from ${table(params)} where queue_name = $1 order by id`;
    return (await tx.query(text, [queue])).rows as unknown as Stored[];
  });
}

async function messagesIn(mq: Runtime, params: ExecutorSuiteParams): Promise<readonly unknown[]> {
  return (await stored(mq, params)).flatMap(({ payload }) => JSON.parse(payload) as unknown[]);
}

function table({ schema = "postrider" }: ExecutorSuiteParams): string {
  return `"${schema.replaceAll('"', '""')}".queue_message_batch`;
}

const definition: QueueDefinition = {
  name: queue,
  identifier: "executorSuite",
  typeName: "ExecutorSuite",
  settings: {
    exclusive: false,
    maxBatchMessages: 100,
    maxBatchBytes: 16 * 1024 * 1024,
    concurrency: 1,
    maxAttempts: 5,
    backoff: { initialMs: 1_000, factor: 2, maxMs: 3_600_000, jitter: 0.25 },
    buffer: false,
    orphanAfterMs: 8_000,
    staleAfterMs: 600_000,
    deadLetter: false,
    version: 1,
    aliases: [],
    redact: [],
  },
  schema: {},
  schemaHash: "0".repeat(64),
  validatePublish: () => true,
  validateDeliver: () => true,
};
