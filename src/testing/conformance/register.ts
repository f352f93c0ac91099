import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** What a starting node records. */
export const registerCases: readonly ConformanceCase[] = [
  {
    rule: "Q3",
    name: "the first registration tells nothing, the next tells what was recorded before",
    async run(subject) {
      const queue = subject.name();
      const first = subject.definition(queue, { maxAttempts: 3 });
      assert.deepEqual(await subject.backend.register([first], "a"), []);
      const [difference] = await subject.backend.register([subject.definition(queue, { maxAttempts: 4 })], "b");
      assert.ok(difference !== undefined);
      assert.deepEqual([difference.queue, difference.written, difference.recordedVersion], [queue, true, 1]);
      assert.equal((difference.recordedSettings as { maxAttempts: number }).maxAttempts, 3);
      assert.equal(difference.recordedSchemaHash, first.schemaHash);
    },
  },
  {
    rule: "Q3",
    name: "a lower version does not overwrite a higher one, and says so",
    async run(subject) {
      const queue = await subject.register({ version: 2, maxAttempts: 2 });
      const [difference] = await subject.backend.register([subject.definition(queue, { maxAttempts: 9 })], "old");
      assert.deepEqual([difference?.written, difference?.recordedVersion], [false, 2]);
      assert.equal((await subject.inFlight(queue)).maxAttempts, 2);
    },
  },
  {
    rule: "Q3",
    name: "many nodes that start at once with many queues, in any order, all succeed",
    async run(subject) {
      const definitions = Array.from({ length: 10 }, () => subject.definition(subject.name(), { exclusive: true }));
      const orders = Array.from({ length: 4 }, (_, index) =>
        index % 2 === 0 ? definitions : definitions.toReversed(),
      );
      await Promise.all(orders.map((order, index) => subject.backend.register(order, `node ${index}`)));
    },
  },
  {
    rule: "J7",
    name: "a queue that was paused before anybody registered it tells no difference, and stays paused",
    async run(subject) {
      const queue = subject.name();
      await subject.backend.inspector.pause(queue);
      assert.deepEqual(await subject.backend.register([subject.definition(queue)], "a"), []);
      assert.equal((await subject.depth(queue)).paused, true);
    },
  },
];
