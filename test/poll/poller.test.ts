/** Rounds of the poller, driven by hand: what it asks for, and when it looks again. */
import assert from "node:assert/strict";
import test from "node:test";
import type { Backend, ListenSession, PollRequest, PollResult } from "../../src/backend/backend.js";
import { Instrument } from "../../src/instrument.js";
import { Poller, type PollerParams } from "../../src/poll/poller.js";
import { Signal } from "../../src/wake/signal.js";

const nothing: PollResult = { batches: [], recovered: [], publishing: false };
const want = { queue: "q", limit: 1, version: 1 };

/** A poller on a backend that only polls, as `answer` says. */
function scripted(
  answer: (request: PollRequest, round: number) => PollResult | Promise<PollResult>,
  wants: () => PollRequest["wants"] = () => [want],
) {
  const requests: PollRequest[] = [];
  const asleep: string[] = [];
  const instrument = new Instrument();
  const session = {
    fallAsleep: async (queues: readonly string[]) => void asleep.push(...queues),
    rise: async () => void asleep.splice(0),
  } as unknown as ListenSession;
  const backend = {
    poll: async (request: PollRequest) => {
      requests.push(request);
      return await answer(request, requests.length);
    },
    isUnanswered: () => false,
  } as unknown as Backend;
  const params: PollerParams = {
    backend,
    slots: {
      wants,
      roomBytes: 1_000_000,
      submit: () => undefined,
      disown: () => undefined,
      refusals: undefined,
      noteHeard: () => undefined,
      resume: () => undefined,
    },
    signal: new Signal(),
    instrument,
    owner: "me",
    pollMs: 60_000,
    session: () => session,
    sessionUpForMs: () => 0,
    orphanAfterMs: () => 8_000,
  };
  return { poller: new Poller(params), requests, asleep, instrument };
}

const asked = ({ maintain, fallingAsleep }: PollRequest) => ({ maintain, fallingAsleep });

test("W3 falling asleep is C1, then a look with C2 and the due time; sound asleep a round is one statement", async () => {
  const { poller, requests, asleep } = scripted(() => nothing);
  await poller.round({ source: "slot", marked: false });
  assert.deepEqual(asleep, ["q"]);
  assert.deepEqual(requests.map(asked), [
    { maintain: true, fallingAsleep: false },
    { maintain: true, fallingAsleep: true },
  ]);
  const { ms: first } = await poller.round({ source: "notify", marked: false });
  const { ms: next } = await poller.round({ source: "poll", marked: false });
  assert.equal(requests.length, 4);
  assert.ok(first > 40_000 && first <= 60_000);
  assert.equal(next, 60_000, "W6 spread once, then in step");
});

test("W3 while a publisher is in flight the node keeps looking, with steps that grow", async () => {
  let publishing = true;
  const { poller } = scripted(({ fallingAsleep }) => ({ ...nothing, publishing: fallingAsleep && publishing }));
  const rests: number[] = [];
  for (let round = 0; round < 12; round += 1) rests.push((await poller.round({ source: "notify", marked: false })).ms);
  assert.ok((rests[0] ?? 99) <= 2 && (rests.at(-1) ?? 0) > 100 && rests.every((ms) => ms <= 250), rests.join());
  publishing = false;
  assert.ok((await poller.round({ source: "notify", marked: false })).ms > 40_000);
});

test("P14 a batch that begins to wait while a round is under way makes that round's due time stale", async () => {
  const { poller, requests, instrument } = scripted(({ fallingAsleep }, round) => {
    if (fallingAsleep && round === 2) instrument.emit("retried", { queue: "q", batchId: "1" });
    return round > 2 ? { ...nothing, dueInMs: 25 } : nothing;
  });
  await poller.round({ source: "slot", marked: false });
  const { ms, otherwise } = await poller.round({ source: "slot", marked: false });
  assert.equal(requests.at(-1)?.maintain, true);
  assert.ok(ms <= 25 && otherwise === "timer", `rests ${ms} ms for ${otherwise}`);
});

test("M1 a round that fails is told, backs off, and the next one succeeds", async () => {
  let fails = true;
  const { poller, instrument } = scripted(() => {
    if (fails) throw new Error("away");
    return nothing;
  });
  const told: string[] = [];
  instrument.on("error", ({ part }) => told.push(part));
  const rests: number[] = [];
  for (let round = 0; round < 8; round += 1) rests.push((await poller.round({ source: "poll", marked: false })).ms);
  assert.equal(told.length, 8);
  assert.ok(poller.failing && (rests[0] ?? 0) <= 100 && rests.every((ms) => ms <= 5_000));
  fails = false;
  await poller.round({ source: "poll", marked: false });
  assert.ok(!poller.failing && poller.lastRoundAt !== undefined);
});

test("W6 a round without a free slot asks the database nothing, unless something is due", async () => {
  let free = true;
  const { poller, requests } = scripted(
    () => nothing,
    () => (free ? [want] : []),
  );
  await poller.round({ source: "slot", marked: false });
  const before = requests.length;
  free = false;
  const { ms } = await poller.round({ source: "slot", marked: false });
  assert.equal(requests.length, before);
  assert.ok(ms > 40_000, `the next poll is due in its time, found ${ms} ms`);
  await poller.round({ source: "notify", marked: true });
  assert.deepEqual(
    requests.slice(before).map(asked),
    [{ maintain: true, fallingAsleep: false }],
    "what is marked is looked at",
  );
});

test("W3 work found on the way to sleep is followed by a round of its own only where a slot is left", async () => {
  let free = true;
  const batch = { queue: "q", id: "1", token: "1" } as PollResult["batches"][number];
  const { poller } = scripted(
    ({ fallingAsleep }) => {
      if (fallingAsleep) free = false;
      return fallingAsleep ? { ...nothing, batches: [batch] } : nothing;
    },
    () => (free ? [want] : []),
  );
  const { ms } = await poller.round({ source: "slot", marked: false });
  assert.ok(ms > 40_000, `found ${ms} ms`);
});
