/** Rules K1 and K2: a test's own client, in the place of the generated default one. */
import assert from "node:assert/strict";
import test from "node:test";
import { mq as defaultMq, type EmailSend, onEmailSend, onSearchReindex, publishTo } from "../../generated/index.js";
import { eventually, settled, waitForIdle, withTestMq } from "../../src/testing/testing.js";
import { testDatabase } from "../support/database.js";
import { testQueue } from "../support/queue-definition.js";

const { connectionString, pool } = await testDatabase();

const document = (documentId: string) => ({ documentId, kind: "product" }) as const;

// As an application's module does, when it is imported.
const reindexed: string[] = [];
onSearchReindex((messages) => void reindexed.push(...messages.map(({ documentId }) => documentId)));

test("K1 in the body the default client, with the handlers it has, is the test's; afterwards it is itself again", async () => {
  reindexed.length = 0;
  const result = await withTestMq({}, async (mq) => {
    await publishTo.searchReindex(document("products"));
    await publishTo.searchReindex.many([document("orders")]);
    await defaultMq.transaction(() => publishTo.searchReindex(document("people")));
    await settled();
    assert.deepEqual(defaultMq.health(), mq.health());
    return "the body's result";
  });
  assert.deepEqual([reindexed.toSorted(), result], [["orders", "people", "products"], "the body's result"]);
  assert.equal(defaultMq.health().listener, "not started");
  await assert.rejects(defaultMq.start(), { code: "ERR_NO_DATABASE" });
});

test("K1 handlers are added or replaced for one test; a batch's or a message's, by name or identifier", async () => {
  reindexed.length = 0;
  const seen: unknown[] = [];
  const handlers = {
    "search-reindex": (messages: readonly unknown[]) => void seen.push(...messages),
    emailSend: { each: (message: EmailSend) => void seen.push(message.template) },
  };
  await withTestMq({ handlers }, async (mq) => {
    await publishTo.searchReindex(document("products"));
    await mq.settled();
    await publishTo.emailSend({
      to: { customerId: "c-1", name: "Ann", email: "a@example.com" },
      template: "newsletter",
    });
    await mq.settled();
    assert.throws(() => onEmailSend(() => undefined), { code: "ERR_LISTENER_EXISTS" });
  });
  assert.deepEqual([seen, reindexed], [[document("products"), "newsletter"], []]);
  await assert.rejects(
    withTestMq({ handlers: { "search-reindx": () => undefined } }, () => undefined),
    {
      code: "ERR_QUEUE_UNDECLARED",
    },
  );
});

test("K1 tests side by side have a client each, also in their handlers and timers", async () => {
  const run = (name: string) =>
    withTestMq({}, async (mq) => {
      const indexes: string[] = [];
      mq.on("published", () => indexes.push(name));
      await new Promise((resolve) => setTimeout(resolve, 5));
      await publishTo.searchReindex(document(name));
      await settled();
      return indexes;
    });
  assert.deepEqual(await Promise.all([run("a"), run("b"), run("c")]), [["a"], ["b"], ["c"]]);
});

test("K1 a throw passes through, and everything is restored all the same", async () => {
  let stopped: Promise<void> | undefined;
  await assert.rejects(
    withTestMq({}, async (mq) => {
      stopped = mq.stop();
      throw new Error("the test has failed");
    }),
    /the test has failed/,
  );
  await stopped;
  assert.equal(defaultMq.health().listener, "not started");
  await assert.rejects(settled(), /inside withTestMq/);
});

for (const options of [{ pool }, { backend: "postgres", connectionString }] as const) {
  test(`K1 on PostgreSQL, by ${Object.keys(options)[0]}: a schema of its own, gone afterwards; transactions have a database`, async () => {
    reindexed.length = 0;
    await withTestMq(options, async (mq) => {
      await mq.transaction(async (tx) => {
        const { rows } = await tx.query("select 1 as one");
        assert.deepEqual(rows, [{ one: 1 }]);
        await publishTo.searchReindex(document("products"));
      });
      await mq.settled();
    });
    assert.deepEqual(reindexed, ["products"]);
    const { rows } = await pool.query("select 1 from pg_namespace where nspname like 'postrider\\_test\\_%'");
    assert.deepEqual(rows, []);
  });
}

test("K1, D9 an atomic handler of the default client has its transaction in the test's client", async () => {
  let inside = "not called";
  const listener = onEmailSend.each(
    async (_, { tx }) => {
      await tx?.query("select 1");
      inside = defaultMq.transactionState() === undefined ? "outside" : "inside";
      await publishTo.searchReindex(document("from a handler"));
    },
    { atomic: true },
  );
  reindexed.length = 0;
  await withTestMq({ pool }, async (mq) => {
    await publishTo.emailSend({
      to: { customerId: "c-1", name: "Ann", email: "a@example.com" },
      template: "newsletter",
    });
    await mq.settled();
  });
  await listener.stop();
  assert.deepEqual([inside, reindexed], ["inside", ["from a handler"]]);
});

test("K2 waitForIdle names what is still busy, and waits for no message that is to come later", async () => {
  const queues = [testQueue("slow"), testQueue("failing"), testQueue("unheard")];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const failing = () => {
    throw new Error("no");
  };
  await withTestMq({ queues, handlers: { slow: () => held } }, async (mq) => {
    await mq.queue("unheard").publish({ n: 1 });
    await mq.queue("slow").publish({ n: 1 }, { delayMs: 60_000 });
    await mq.waitForIdle();
    await mq.queue("slow").publish({ n: 1 });
    const listener = mq.queue("failing").listen(failing);
    await mq.queue("failing").publish({ n: 1 });
    await eventually(async () => assert.equal((await mq.inspect.depths()).at(0)?.delayed, 1));
    await assert.rejects(
      waitForIdle({ timeoutMs: 50 }),
      /^Error: not idle after 50 ms: queue "failing": 1 waiting for a retry \(Error: no\); queue "slow": 1 in handlers$/,
    );
    await listener.stop();
    release();
    await mq.settled();
  });
});

test("K2 eventually looks again until it holds, and tells the last reason when time is up", async () => {
  let looks = 0;
  await eventually(() => {
    looks += 1;
    assert.ok(looks >= 3, "too early");
  });
  assert.equal(looks, 3);
  await assert.rejects(
    eventually(() => assert.fail("never so"), { timeoutMs: 20 }),
    /after 20 ms: never so/,
  );
  await assert.rejects(
    eventually(() => false, { timeoutMs: 20 }),
    /never held/,
  );
});
