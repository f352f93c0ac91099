import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../generated/index.js";
import { keptLog } from "../support/client.js";

// It was taken for a passing error of the connection, and publishers waited two minutes for an address to appear.
test("without an address a publish, a transaction and start() say so at once", async () => {
  const client = createClient({ connectionString: () => undefined });
  const unaddressed = { code: "ERR_NO_DATABASE", message: /DATABASE_URL/ };
  await assert.rejects(client.publishTo.searchReindex({ kind: "product", documentId: "d-1" }), unaddressed);
  await assert.rejects(
    client.transaction(() => undefined),
    unaddressed,
  );
  await assert.rejects(client.start(), unaddressed);
  await client.stop();
});

// pg takes any text: "mysql://" was localhost's PostgreSQL to it, and start() waited there for ever.
test("an address that is none is refused where it is given, and no more of it is shown than its beginning", async () => {
  const refused = (message: RegExp) => (error: { code?: string; message: string }) => {
    assert.equal(error.code, "ERR_CLIENT_OPTIONS");
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  };
  for (const option of ["connectionString", "listenConnectionString"]) {
    const make = (address: unknown) => () => createClient({ [option]: address });
    assert.throws(make("mysql://app:secret@db/shop"), refused(new RegExp(`^${option} must .*found "mysql://…"`)));
    assert.throws(make("host=db password=secret"), refused(/found "host=db …"/));
    assert.throws(make("postgres://app:se/cret@db/shop"), refused(/written %23/));
    assert.throws(make("postgres://app@db:543210/shop"), refused(/port/));
    assert.throws(make(5432), refused(/must be a text, found number/));
  }
  const lazily = createClient({ connectionString: () => "localhost:5432", logger: keptLog() });
  await assert.rejects(lazily.start(), refused(/DATABASE_URL.*found "localhos…"/));
  await assert.rejects(lazily.publishTo.searchReindex({ kind: "product", documentId: "d-1" }), refused(/localhos/));
  await lazily.stop();
  for (const address of ["postgresql:///shop?host=/run/postgresql", "/run/postgresql shop", ""]) {
    await createClient({ connectionString: address }).stop();
  }
});

test("Q6 a listener that is stopped before start() has nobody to tell, and needs no database", async () => {
  const logger = keptLog();
  const client = createClient({ connectionString: () => undefined, logger });
  await client.onSearchReindex(() => undefined).stop();
  await client.flush();
  await client.stop();
  assert.deepEqual(logger.lines, []);
});
