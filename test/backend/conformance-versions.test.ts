/**
 * The suite on every supported major version older than the one all other tests run on, in normal and in duplicate delivery.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { migrate } from "../../src/backend/postgres/migrate.js";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { conformanceSuite, Subject } from "../../src/testing/testing.js";
import { olderVersions, startVersion } from "../support/server-version.js";
import { databaseUrl } from "../support/test-server.js";

for (const major of olderVersions) {
  describe(`PostgreSQL ${major}`, () => {
    let server: Awaited<ReturnType<typeof startVersion>>;
    let backend: PostgresBackend;
    before(async () => {
      server = await startVersion(major);
      const admin = new pg.Client(server.connectionString);
      await admin.connect();
      await admin.query("drop database if exists conformance with (force)");
      await admin.query("create database conformance");
      const { rows } = await admin.query("show server_version_num");
      assert.equal(Math.floor(Number(rows[0].server_version_num) / 10_000), major);
      await admin.end();
      const connectionString = databaseUrl(server.connectionString, "conformance");
      await migrate({ database: { connectionString } });
      backend = new PostgresBackend({ connectionString });
    });
    after(async () => {
      await backend?.close();
      await server?.stop();
    });
    for (const duplicateDelivery of [false, true]) {
      describe(duplicateDelivery ? "every batch stored twice" : "every batch stored once", () => {
        let subject: Subject;
        before(() => {
          subject = new Subject(backend, { duplicateDelivery });
        });
        for (const [verb, cases] of Object.entries(conformanceSuite)) {
          for (const one of cases) it(`${one.rule} ${verb}: ${one.name}`, () => one.run(subject));
        }
      });
    }
  });
}
