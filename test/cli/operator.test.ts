/** J2, J7: `status`, `peek`, `dead`, `pause` and `resume` as processes of their own. */
import assert from "node:assert/strict";
import test from "node:test";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { testDatabase } from "../support/database.js";
import { startProcess } from "../support/processes.js";
import { testQueue } from "../support/queue-definition.js";

const program = new URL("../../src/cli/main.ts", import.meta.url);
const { connectionString, pool } = await testDatabase();
const backend = new PostgresBackend({ connectionString });
await backend.register([testQueue("letters", { redact: ["/text"] })], "test");
await backend.close();

async function run(...args: readonly string[]) {
  const child = startProcess(program, { args, env: { DATABASE_URL: connectionString } });
  const { code } = await child.ended;
  return { code, output: child.output() };
}

const lines = (output: string) =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Dead letters as they lie in the table. */
async function bury(count: number, queue = "letters"): Promise<void> {
  await pool.query(
    `insert into postrider.dead_message_batch (queue_name, batch_id, reason, error, failures, crashes, priority, version,
       created_at, message_count, payload)
     select $1, 1000000 + n, 'attempts', 'Error: card-4711 is no good' || chr(10) || 'at x', 5, 0, 100, 1, now(), 1,
            '[{"n":1,"text":"card-4711"}]' from generate_series(1, $2) n`,
    [queue, count],
  );
}

test("J2 dead: listed, shown without what is redacted, put back by reason and number, purged only when sure", async () => {
  await bury(4);
  const list = await run("dead", "list", "letters", "--json");
  assert.equal(list.code, 0, list.output);
  const [first] = lines(list.output);
  assert.match(
    (await run("dead", "list", "letters")).output,
    /^dead id +died +reason +messages +step +error\n\d+ .* attempts +1 +Error: \(redacted\) is no good$/m,
  );
  const shown = lines((await run("dead", "show", "letters", String(first?.deadId))).output)[0];
  assert.deepEqual(shown?.messages, [{ n: 1, text: "(redacted)" }]);
  assert.doesNotMatch(JSON.stringify([shown, lines(list.output)]), /4711/);
  assert.equal((await run("dead", "redrive", "letters", "--reason", "schema")).output, "letters: 0 of 0 put back\n");
  const one = await run("dead", "redrive", "letters", "--limit", "1", "--json");
  assert.deepEqual(lines(one.output), [
    { done: 1, total: 1 },
    { queue: "letters", done: 1, total: 1, complete: true },
  ]);
  assert.deepEqual(await run("dead", "purge", "letters"), { code: 1, output: "nothing was deleted\n" });
  assert.deepEqual(await run("dead", "purge", "letters", "--yes"), { code: 0, output: "letters: 3 of 3 deleted\n" });
  const peeked = lines((await run("peek", "letters")).output);
  assert.deepEqual(
    [peeked[0]?.messages, (peeked[0]?.history as unknown[] | undefined)?.length],
    [[{ n: 1, text: "(redacted)" }], 1],
  );
  assert.doesNotMatch(JSON.stringify(peeked), /4711/);
});

test("J2 a dead letter that is not there is named; what is no number of one is wrong usage", async () => {
  await bury(1, "letters");
  const [letter] = lines((await run("dead", "list", "letters", "--json")).output);
  const { code, output } = await run("dead", "show", "letters", "999999999", String(letter?.deadId));
  assert.deepEqual(
    [code, output.split("\n").filter((line) => !line.startsWith("{"))],
    [1, ["letters: no dead letter 999999999", ""]],
  );
  for (const args of [
    ["show", "letters", "abc"],
    ["redrive", "letters", "-5"],
    ["list", "letters", "--after", "x"],
  ]) {
    const wrong = await run("dead", ...args);
    assert.equal(wrong.code, 2, wrong.output);
    assert.match(wrong.output, new RegExp(`\\(see postrider dead ${args[0]} --help\\)`));
  }
  assert.equal((await run("dead", "purge", "letters", "--yes")).code, 0);
});

test("a reader that is gone, as with head -1, ends no command and brings no stack", async () => {
  await bury(50, "letters");
  const env = { DATABASE_URL: connectionString };
  const list = startProcess(program, { args: ["dead", "list", "letters", "--json"], env, unread: true });
  assert.deepEqual([await list.ended, list.output()], [{ code: 0, signal: null }, ""]);
  const redrive = startProcess(program, { args: ["dead", "redrive", "letters", "--json"], env, unread: true });
  assert.deepEqual([await redrive.ended, redrive.output()], [{ code: 0, signal: null }, ""]);
  assert.deepEqual((await run("dead", "list", "letters", "--json")).output, "");
});

test("J7 pause and resume are seen in status; a queue nobody knows is refused, with a near name", async () => {
  const paused = async () => {
    const { output } = await run("status", "--json");
    const { queues } = lines(output)[0] as { queues: { queue: string; paused: boolean }[] };
    return queues.find(({ queue }) => queue === "letters")?.paused;
  };
  assert.deepEqual(await run("pause", "letters"), { code: 0, output: "letters: paused\n" });
  assert.equal(await paused(), true);
  assert.match((await run("status")).output, /^letters .*paused$/m);
  assert.equal((await run("resume", "letters")).code, 0);
  assert.equal(await paused(), false);
  const typo = await run("pause", "leters");
  assert.equal(typo.code, 1);
  assert.match(typo.output, /ERR_QUEUE_UNDECLARED: .*did you mean "letters"/);
  assert.equal((await run("dead", "list")).code, 2, "wrong usage");
});

// 100,000 of them in 20 s here: POSTRIDER_LETTERS says how many.
test("J2 redriving many can be stopped and continued, shows progress, and keeps memory flat", {
  timeout: 120_000,
}, async (t) => {
  const count = Number(process.env.POSTRIDER_LETTERS ?? 5_000);
  await bury(count, "many");
  const child = startProcess(program, {
    args: ["dead", "redrive", "many", "--json"],
    env: { DATABASE_URL: connectionString },
  });
  const deadline = performance.now() + 30_000;
  while (!child.output().includes('"done"') && performance.now() < deadline)
    await new Promise((next) => setTimeout(next, 5));
  child.signal("SIGINT");
  const { code } = await child.ended;
  const stopped = lines(child.output()).at(-1);
  assert.deepEqual([code, stopped?.complete, stopped?.total], [1, false, count], child.output().slice(-500));
  const begun = performance.now();
  const rest = await run("dead", "redrive", "many", "--json");
  const all = lines(rest.output);
  assert.deepEqual([rest.code, all.at(-1)?.done], [0, count - Number(stopped?.done)]);
  assert.ok(all.length > 2, "no progress was shown");
  const { rows } = await pool.query(
    "select count(*)::int as n from postrider.queue_message_batch where queue_name = 'many'",
  );
  assert.deepEqual(rows, [{ n: count }]);
  t.diagnostic(
    `${all.at(-1)?.done} put back in ${Math.round(performance.now() - begun)} ms, a process's start included`,
  );
});
