import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** Leases live on. */
export const heartbeatCases: readonly ConformanceCase[] = [
  {
    rule: "R2",
    name: "a heartbeat answers kept or lost for each batch, and nothing for none",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue);
      const gone = await subject.inFlight(subject.name());
      await subject.backend.ack([gone]);
      const answers = await subject.backend.heartbeat([gone, batch]);
      assert.deepEqual([answers.get(batch.token), answers.get(gone.token)], ["kept", "lost"]);
      assert.equal((await subject.backend.heartbeat([])).size, 0);
    },
  },
  {
    rule: "R3",
    name: "a batch whose owner goes on giving signs of life is not recovered, one that falls silent is",
    async run(subject) {
      const staleAfterMs = 600;
      const queue = await subject.register({ staleAfterMs });
      const batch = await subject.inFlight(queue);
      const begun = performance.now();
      await subject.until(async () => {
        assert.equal((await subject.backend.heartbeat([batch])).get(batch.token), "kept");
        assert.equal((await ownRecoveries(queue, subject)).length, 0);
        return performance.now() - begun > 2 * staleAfterMs;
      }, "time stands still");
      await subject.until(async () => (await ownRecoveries(queue, subject)).length > 0, "it was never recovered");
      assert.equal((await subject.backend.heartbeat([batch])).get(batch.token), "lost");
    },
  },
  {
    rule: "R1",
    name: "of two leases of one batch in one owner's hands, the lost one is answered lost",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 1 });
      const late = await subject.inFlight(queue);
      await subject.until(async () => (await ownRecoveries(queue, subject)).length > 0, "it was never recovered");
      const again = (await subject.claim(queue)).find(({ id }) => id === late.id);
      assert.ok(again !== undefined && again.token !== late.token);
      const session = await subject.listen();
      const leases = [late, again];
      for (const answers of [await subject.backend.heartbeat(leases), await session.heartbeat(leases)]) {
        assert.deepEqual([answers.get(late.token), answers.get(again.token)], ["lost", "kept"]);
      }
      await session.close();
      await subject.backend.ack([again]);
    },
  },
  {
    rule: "R2",
    name: "the session that hears gives the same answers",
    async run(subject) {
      const batch = await subject.inFlight(subject.name());
      const session = await subject.listen();
      assert.equal((await session.heartbeat([batch])).get(batch.token), "kept");
      assert.equal((await session.heartbeat([{ ...batch, token: "1" }])).get("1"), "lost");
      await session.close();
    },
  },
];

async function ownRecoveries(queue: string, subject: Parameters<ConformanceCase["run"]>[0]) {
  const { recovered } = await subject.poll([], { recover: true });
  return recovered.filter((recovery) => recovery.queue === queue);
}
