/** Which failures pass, and which may have been carried out all the same. */
import assert from "node:assert/strict";
import test from "node:test";
import { isPassing, isUnanswered, NotConnected } from "../../../src/backend/postgres/sqlstate.js";
import { PostriderError } from "../../../src/errors.js";

const withCode = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });

test("P8 connection, rollback, resources, state, intervention and a read-only server pass; the rest stays", () => {
  for (const code of ["08006", "40001", "40P01", "53300", "55P03", "57P01", "57014", "25006"]) {
    assert.equal(isPassing(withCode(code)), true, code);
  }
  for (const code of ["22P02", "23505", "42P01", "54000", "0A000", "3D000", "28P01"]) {
    assert.equal(isPassing(withCode(code)), false, code);
  }
  assert.equal(isPassing(new TypeError("a fault of ours")), false);
  assert.equal(isPassing(new PostriderError("ERR_NOT_MIGRATED", "stays until somebody migrates")), false);
});

test("P3 only what was sent and got no answer may have been carried out", () => {
  assert.equal(isUnanswered(new Error("Connection terminated unexpectedly")), true);
  assert.equal(isUnanswered(withCode("ECONNRESET", { syscall: "read" })), true);
  assert.equal(isUnanswered(new Error("Query read timeout")), true);
  assert.equal(isUnanswered(withCode("57P01")), false, "the server answered: it had stopped the statement");
  for (const cause of [
    withCode("ECONNREFUSED"),
    new AggregateError([]),
    new Error("timeout expired"),
    withCode("53300"),
  ]) {
    assert.equal(isUnanswered(new NotConnected(cause)), false);
    assert.equal(isPassing(new NotConnected(cause)), true);
  }
  assert.equal(isPassing(new NotConnected(withCode("28P01"))), false, "a wrong password stays wrong");
});
