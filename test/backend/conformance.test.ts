/** One suite for every backend, in normal and in duplicate delivery. */
import { after, describe, it } from "node:test";
import type { Backend } from "../../src/backend/backend.js";
import { MemoryBackend } from "../../src/backend/memory/memory-backend.js";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { conformanceSuite, Subject } from "../../src/testing/testing.js";
import { testDatabase } from "../support/database.js";

const db = await testDatabase();

const backends: Readonly<Record<string, () => Backend>> = {
  memory: () => new MemoryBackend(),
  postgres: () => new PostgresBackend({ connectionString: db.connectionString }),
};

for (const [name, open] of Object.entries(backends)) {
  for (const duplicateDelivery of [false, true]) {
    describe(`${name}, ${duplicateDelivery ? "every batch stored twice" : "every batch stored once"}`, () => {
      const backend = open();
      const subject = new Subject(backend, { duplicateDelivery });
      for (const [verb, cases] of Object.entries(conformanceSuite)) {
        for (const one of cases) it(`${one.rule} ${verb}: ${one.name}`, () => one.run(subject));
      }
      after(() => backend.close());
    });
  }
}
