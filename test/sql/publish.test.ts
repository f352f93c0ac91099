import assert from "node:assert/strict";
import test from "node:test";
import { messageKey } from "../../src/batch/message-key.js";
import { testDatabase } from "../support/database.js";

const db = await testDatabase();

async function publish(queue: unknown, messages: unknown, rest = ""): Promise<Record<string, unknown>[]> {
  await db.pool.query("truncate postrider.queue_message_batch");
  await db.pool.query(`select postrider.publish($1, $2${rest})`, [queue, messages]);
  const { rows } = await db.pool.query(
    "select status, priority, message_count, payload, meta, version from postrider.queue_message_batch order by id",
  );
  return rows;
}

test("P16: messages are stored as they are written, with headers beside each, delayed and by priority", async () => {
  const text = '[ {"b":1,"a":"\\u0000\\ud800"} ,[1.50], null]';
  const [row] = await publish("q", text, `, priority => 3, delay_ms => 1000, headers => '{"h":"v"}'`);
  assert.deepEqual(row, {
    ...{ status: "delayed", priority: 3, message_count: 3, version: 1 },
    ...{ payload: '[{"b":1,"a":"\\u0000\\ud800"},[1.50],null]', meta: '[{"h": "v"},{"h": "v"},{"h": "v"}]' },
  });
  assert.deepEqual(await publish("q", "[]"), []);
});

test("P11, P16: what is over the queue's bounds is divided, in order; one message over them is refused", async () => {
  await db.pool.query(
    "insert into postrider.queue (queue_name, version, max_batch_messages, max_batch_bytes) values ('small', 4, 3, 20)",
  );
  const rows = await publish("small", '[1,2,3,4,"aaaaaaaa","bbbbbbbb"]');
  assert.deepEqual(
    rows.map(({ payload }) => payload),
    ["[1,2,3]", '[4,"aaaaaaaa"]', '["bbbbbbbb"]'],
  );
  assert.equal(rows[0]?.version, 4);
  await assert.rejects(publish("small", `["${"x".repeat(20)}"]`), { code: "54000" });
});

for (const [what, queue, messages, rest, text] of [
  ["an object", "q", "{}", "", /messages must be a JSON array, found object/],
  ["nothing", "q", null, "", /found SQL null/],
  ["no JSON", "q", "[1", "", /invalid input syntax for type json/],
  ["no name", null, "[1]", "", /1 to 254 bytes, found null/],
  ["a name of 255 bytes", "q".repeat(255), "[1]", "", /1 to 254 bytes, found 255/],
  ["headers that are a list", "q", "[1]", `, headers => '["x"]'`, /headers must be an object of strings/],
  ["headers that are no strings", "q", "[1]", `, headers => '{"a":"b","c":1}'`, /headers must be an object of strings/],
] as const) {
  test(`P16: ${what} is refused, with what was found`, async () => {
    await assert.rejects(publish(queue, messages, rest), text);
  });
}

test("J9, J10, P11: plain SQL makes the keys that the library makes, and stores one key a batch", async () => {
  await db.pool.query("insert into postrider.queue (queue_name, order_by) values ('line', '/k')");
  const values = ["ü\n", "a/b", 1.5, 1e21, 1e-7, true, null, "x".repeat(300)];
  await publish("line", JSON.stringify([...values.map((k) => ({ k })), { none: 1 }, { none: "\u0000\ud800" }]));
  const { rows } = await db.pool.query(
    "select order_key, message_count from postrider.queue_message_batch order by id",
  );
  assert.deepEqual(
    rows.map(({ order_key }) => order_key),
    [...values.map((k) => messageKey(["/k"], { k })), null],
  );
  assert.equal(rows.at(-1).message_count, 2);
  await db.pool.query("insert into postrider.queue (queue_name, unique_by) values ('once', '{/a~1b,/0}')");
  await publish("once", '[{"a/b":1,"0":2},{"a/b":1.0,"0":2},{"a/b":1}]');
  const stored = await db.pool.query("select unique_key from postrider.queue_message_batch order by id");
  assert.deepEqual(stored.rows, [{ unique_key: "1,2" }, { unique_key: null }]);
});
