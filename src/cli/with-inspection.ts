/** What operators' commands work with: the database's queues, without their code. */
import type { Inspector } from "../backend/inspector.js";
import { PostgresBackend } from "../backend/postgres/postgres-backend.js";
import { PostriderError } from "../errors.js";
import { type Inspection, inspectionOf } from "../inspect/inspection.js";
import { nearest } from "../queue/nearest.js";
import { type DatabaseOptions, withDatabase } from "./with-database.js";

/** A command's view of the database. */
export interface Operator {
  readonly inspect: Inspection;
  /** @throws PostriderError `ERR_QUEUE_UNDECLARED` where the database knows no such queue, with near names */
  assertKnown(queue: string): Promise<void>;
  /** The places of a queue's messages that are never shown. */
  redacted(queue: string): Promise<readonly string[]>;
}

/** @throws PostriderError `ERR_NO_DATABASE`, `ERR_NOT_MIGRATED`, `ERR_DATABASE_NEWER` */
export async function withInspection<T>(
  options: DatabaseOptions,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  return await withDatabase(options, async (connectionString) => {
    const backend = new PostgresBackend({ connectionString, schema: options.schema });
    try {
      await backend.check();
      return await work(operatorOf(backend));
    } finally {
      await backend.close();
    }
  });
}

function operatorOf({ inspector, schedules }: PostgresBackend): Operator {
  return {
    inspect: inspectionOf(inspector, schedules),
    assertKnown: (queue) => assertKnown(inspector, queue),
    redacted: async (queue) => {
      const { redact } = ((await inspector.settings(queue)) ?? {}) as { readonly redact?: readonly string[] };
      return redact ?? [];
    },
  };
}

async function assertKnown(inspector: Inspector, queue: string): Promise<void> {
  const names = (await inspector.depths()).map((depth) => depth.queue);
  if (names.includes(queue)) return;
  const near = nearest(queue, names);
  const hint = near.length === 0 ? "" : `; did you mean ${near.map((name) => `"${name}"`).join(" or ")}?`;
  throw new PostriderError("ERR_QUEUE_UNDECLARED", `the database knows no queue "${queue}"${hint}`, {
    details: { queue, near },
  });
}
