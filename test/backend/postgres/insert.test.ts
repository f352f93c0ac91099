/** How stored batches are cut into statements. */
import assert from "node:assert/strict";
import test from "node:test";
import { writeBounds } from "../../../src/backend/backend.js";
import { insertPortions } from "../../../src/backend/postgres/insert.js";
import type { NewBatch } from "../../../src/batch/batch.js";
import { upTo } from "../../support/stored.js";

const batch = (n: number, bytes = 10): NewBatch => {
  return { queue: "q", version: 1, payload: `[{"n":${n}}]`, bytes, messageCount: 1, priority: 100 };
};

test("P6 statements hold at most 50 rows, in order", () => {
  const portions = insertPortions(upTo(120).map((n) => batch(n)));
  assert.deepEqual(
    portions.map(({ length }) => length),
    [writeBounds.rows, writeBounds.rows, 20],
  );
  assert.deepEqual(
    portions.flat(),
    upTo(120).map((n) => batch(n)),
  );
});

test("P6 and at most 8 MiB, but for a batch that is larger alone", () => {
  const half = writeBounds.bytes / 2;
  const sizes = [half, half, 1, writeBounds.bytes + 1, 1];
  const portions = insertPortions(sizes.map((bytes, n) => batch(n, bytes)));
  assert.deepEqual(
    portions.map((portion) => portion.map(({ bytes }) => bytes)),
    [[half, half], [1], [writeBounds.bytes + 1], [1]],
  );
  assert.deepEqual(insertPortions([]), []);
});
