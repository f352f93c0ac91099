/** Where a node begins to look (3-postgres, section 4). */
import assert from "node:assert/strict";
import test from "node:test";
import type { Batch } from "../../src/batch/batch.js";
import { LowWater } from "../../src/poll/low-water.js";

const batch = { queue: "q", id: "10", priority: 100 } as Batch;
const found = (...batches: Batch[]) => ({ batches, recovered: [], publishing: false, scanMs: 5 });

/** Claimed from at 0 s, looked through at 3.5 s: from then on it begins at the mark. */
function marked(): LowWater {
  const lowWater = new LowWater();
  lowWater.note(found(batch), { queues: ["q"], marks: lowWater.marks(["q"], 0), now: 0 });
  lowWater.note(found(), { queues: ["q"], marks: lowWater.marks(["q"], 3_500), now: 3_500 });
  return lowWater;
}

test("a look begins at the mark, and from the beginning once something has come back", () => {
  const lowWater = marked();
  assert.deepEqual(lowWater.marks(["q"], 3_600), [{ queue: "q", priority: 100, fromId: "10" }]);
  lowWater.forget("q");
  assert.deepEqual(lowWater.marks(["q"], 3_700), []);
});

// The end of the look took the note that something had come back for one that it had already heeded.
test("what comes back during a look is looked for by the next one", () => {
  for (const queue of ["q", undefined]) {
    const lowWater = marked();
    const marks = lowWater.marks(["q"], 3_600);
    lowWater.forget(queue);
    lowWater.note(found(), { queues: ["q"], marks, now: 3_600 });
    assert.deepEqual(lowWater.marks(["q"], 3_700), [], `forgotten: ${queue ?? "everything"}`);
  }
});

test("what comes back during a full look is looked for by the next one", () => {
  for (const queue of ["q", undefined]) {
    const lowWater = marked();
    const marks = lowWater.marks(["q"], 5_000);
    assert.deepEqual(marks, []);
    lowWater.forget(queue);
    lowWater.note(found(), { queues: ["q"], marks, now: 5_000 });
    assert.deepEqual(lowWater.marks(["q"], 5_100), [], `forgotten: ${queue ?? "everything"}`);
  }
});
