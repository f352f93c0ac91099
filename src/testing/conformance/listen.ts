import assert from "node:assert/strict";
import type { ListenSession } from "../../backend/backend.js";
import type { ConformanceCase } from "./case.js";
import type { Subject } from "./subject.js";

interface Ear {
  readonly session: ListenSession;
  /** Wake-ups heard: whether each was marked. */
  readonly heard: boolean[];
  readonly echoes: string[];
  wakened(): Promise<void>;
}

async function openEar(subject: Subject): Promise<Ear> {
  const heard: boolean[] = [];
  const echoes: string[] = [];
  const session = await subject.listen({
    onWake: (marked) => heard.push(marked),
    onEcho: (nonce) => echoes.push(nonce),
  });
  const wakened = async () => {
    await subject.until(async () => heard.length > 0, "nothing was heard");
  };
  return { session, heard, echoes, wakened };
}

/** Sent after what is tested, and heard after it: what has not arrived by then was not sent. */
async function silence(subject: Subject, { echoes }: Ear): Promise<void> {
  const nonce = subject.name("nonce");
  await subject.backend.echo(nonce);
  await subject.until(async () => echoes.includes(nonce), "the nonce did not come back");
}

async function hearing(subject: Subject, queue: string, act: () => Promise<unknown>): Promise<boolean[]> {
  const ear = await openEar(subject);
  try {
    await ear.session.fallAsleep([queue]);
    await act();
    await silence(subject, ear);
    return ear.heard;
  } finally {
    await ear.session.close();
  }
}

/** Being woken. */
export const listenCases: readonly ConformanceCase[] = [
  {
    rule: "W1",
    name: "who sleeps on a queue hears of it, marked or not, and is deaf again once it has risen",
    async run(subject) {
      const queue = subject.name();
      const ear = await openEar(subject);
      await subject.backend.wake([queue], false);
      await silence(subject, ear);
      assert.deepEqual(ear.heard, []);
      await ear.session.fallAsleep([queue]);
      await subject.backend.wake([queue], true);
      await ear.wakened();
      assert.deepEqual(ear.heard, [true]);
      await ear.session.rise();
      await subject.backend.wake([queue], false);
      await silence(subject, ear);
      assert.deepEqual(ear.heard, [true]);
      await ear.session.close();
    },
  },
  {
    rule: "W5",
    name: "a nonce comes back to the session, and to a closed one nothing does",
    async run(subject) {
      const ear = await openEar(subject);
      await silence(subject, ear);
      const count = ear.echoes.length;
      await ear.session.close();
      const other = await openEar(subject);
      await silence(subject, other);
      assert.equal(ear.echoes.length, count);
      await other.session.close();
    },
  },
  {
    rule: "M4",
    name: "its signal ends a session, and says so; once it is aborted none is opened",
    async run(subject) {
      const stop = new AbortController();
      const downs: Error[] = [];
      await subject.listen({ onDown: (error) => downs.push(error), signal: stop.signal });
      stop.abort(new Error("stopping"));
      await subject.until(async () => downs.length > 0, "the session did not end");
      assert.equal(downs.length, 1);
      await assert.rejects(subject.listen({ signal: stop.signal }));
    },
  },
  {
    rule: "W1",
    name: "a publish that says it announced itself has woken the sleepers",
    async run(subject) {
      const queue = subject.name();
      let announced = false;
      const heard = await hearing(subject, queue, async () => {
        announced = (await subject.backend.publish([subject.batch(queue)])).announced;
      });
      assert.equal(heard.length > 0, announced);
    },
  },
  {
    rule: "W1",
    name: "releasing, dividing, resuming and redriving wake by themselves, marked",
    async run(subject) {
      const queue = subject.name();
      const { backend } = subject;
      const acts: (() => Promise<unknown>)[] = [];
      const released = await subject.inFlight(queue);
      acts.push(() => backend.release([released], 0));
      const divided = await subject.inFlight(subject.name(), ["a", "b"]);
      const singles = [{ payload: '["a"]', position: 0 }];
      acts.push(() => backend.divide({ lease: divided, singles }));
      acts.push(() => backend.inspector.resume(queue));
      const dead = await subject.inFlight(subject.name());
      await backend.deadLetter([{ lease: dead, reason: "rejected", error: "" }]);
      acts.push(() => backend.inspector.redrive({ queue: dead.queue }));
      for (const [index, act] of acts.entries()) {
        const where = [queue, divided.queue, queue, dead.queue][index] ?? queue;
        assert.ok((await hearing(subject, where, act)).includes(true), `act ${index}`);
      }
    },
  },
  {
    rule: "R4",
    name: "what was recovered or has become due, and was not taken, wakes other nodes, marked",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 1 });
      await subject.inFlight(queue);
      const heard = await hearing(subject, queue, () =>
        subject.until(async () => {
          const { recovered } = await subject.poll([], { recover: true });
          return recovered.some((one) => one.queue === queue);
        }, "no recovery"),
      );
      assert.ok(heard.includes(true));
      const delayed = subject.name();
      await subject.publish(delayed, [1], { runAt: new Date(Date.now() - 1_000) });
      assert.ok((await hearing(subject, delayed, () => subject.poll([], { maintain: true }))).includes(true));
    },
  },
];
