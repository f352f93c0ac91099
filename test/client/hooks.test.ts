/** Rule M5: what an application does when its client starts and stops. */
import assert from "node:assert/strict";
import test from "node:test";
import { currentScope } from "../../src/transaction/scope.js";
import { heard, testClient } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";

const options = { backend: "memory", queues: [testQueue("q")] } as const;

test("M5 hooks run ascending, ties by name; one that fails is told, and the rest run", async (t) => {
  const mq = testClient(t, options);
  const errors = heard(mq, "error");
  const ran: string[] = [];
  const note = (name: string) => () => void ran.push(name);
  mq.hooks.start(note("b"), { name: "b" });
  mq.hooks.start(note("late"), { name: "late", priority: 900 });
  mq.hooks.start(note("a"), { name: "a" });
  mq.hooks.start(note("early"), { name: "early", priority: -1 });
  mq.hooks.start(note("taken away"))();
  const broken = () => Promise.reject(new Error("no"));
  mq.hooks.start(broken);
  mq.hooks.stop(note("stopped"));
  await mq.start();
  await mq.start();
  assert.deepEqual(ran, ["early", "a", "b", "late"]);
  assert.deepEqual(
    errors.map(({ part }) => part),
    ['start hook "broken"'],
  );
  await mq.stop();
  await mq.stop();
  assert.deepEqual(ran.slice(4), ["stopped"]);
});

test("M4, M5 start hooks run before anything is delivered; stop hooks after the handlers, and what they publish is stored", async (t) => {
  const mq = testClient(t, options);
  const ran: string[] = [];
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  mq.queue("q").listen(async () => {
    ran.push("handler");
    begun();
    await new Promise((resolve) => setImmediate(resolve));
    ran.push("handler ended");
  });
  mq.hooks.start(() => void ran.push("start hook"));
  mq.hooks.stop(async () => {
    ran.push("stop hook");
    await mq.queue("q").publish({ n: 2 });
    ran.push("published");
  });
  await mq.queue("q").publish({ n: 1 });
  await mq.start();
  await running;
  await mq.stop();
  assert.deepEqual(ran, ["start hook", "handler", "handler ended", "stop hook", "published"]);
});

test("M5 a client that was never started runs its stop hooks; one that hangs does not keep it from stopping", async (t) => {
  const mq = testClient(t, options);
  let ran = false;
  mq.hooks.stop(() => {
    ran = true;
    return new Promise(() => undefined);
  });
  await mq.stop({ timeoutMs: 20 });
  assert.ok(ran);
});

test("T8 hooks run in the root context, whoever starts the client", async (t) => {
  const mq = testClient(t, options);
  let scope: unknown = "not run";
  mq.hooks.start(() => {
    scope = currentScope();
  });
  await mq.transaction(() => mq.start());
  assert.equal(scope, undefined);
});
