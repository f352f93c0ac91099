/** What a database has recorded as a base: every version whose messages may still be read, each a base of its own. */
import pg from "pg";
import { schemasFromTexts } from "../load.js";
import { queuesOnly } from "../model.js";
import type { Earlier } from "./earlier.js";

interface RecordedVersion {
  readonly queue_name: string;
  readonly version: number;
  readonly schema_hash: string;
  readonly schema: string;
  readonly batches: string;
}

/** Reads the versions with batches waiting, in flight or dead, and the newest of each queue, which nodes may run. */
export async function loadRecorded(of: { connectionString: string; schema: string }): Promise<Earlier[]> {
  const client = new pg.Client({ connectionString: of.connectionString, application_name: "postrider check" });
  await client.connect();
  try {
    const { rows } = await client.query<RecordedVersion>(recordedVersions(pg.escapeIdentifier(of.schema)));
    return rows.map(earlierOf);
  } finally {
    await client.end();
  }
}

// Rows carry a version and no hash: every schema that was recorded under a version counts.
function recordedVersions(schema: string): string {
  return `
    with held as (
      select queue_name, version, count(*) as batches
        from (select queue_name, version from ${schema}.queue_message_batch
              union all select queue_name, version from ${schema}.dead_message_batch) batch
       group by queue_name, version)
    select v.queue_name, v.version, v.schema_hash, v.schema, coalesce(held.batches, 0)::text as batches
      from ${schema}.queue_version v left join held using (queue_name, version)
     where held.batches > 0
        or v.version = (select max(n.version) from ${schema}.queue_version n where n.queue_name = v.queue_name)
     order by v.queue_name, v.version, v.schema_hash`;
}

function earlierOf(row: RecordedVersion): Earlier {
  const name = `database: queue "${row.queue_name}" version ${row.version}, schema ${row.schema_hash.slice(0, 12)}`;
  const schema: unknown = JSON.parse(row.schema);
  // A name that was recorded may need an identifier of its own to be taken for a file's.
  const options = { name: row.queue_name, identifier: "recorded", version: row.version };
  const document = typeof schema === "object" ? { ...schema, "x-queue": options } : schema;
  const [queue] = queuesOnly(schemasFromTexts(new Map([["recorded.json", JSON.stringify(document)]]), "database"));
  // Passing over what cannot be read would call its messages safe.
  if (queue === undefined) throw new Error(`${name} cannot be read: the gate cannot tell what it allows`);
  return {
    name: `${name} (${row.batches} batches)`,
    queues: [{ ...queue, schemaHash: row.schema_hash }],
    settings: false,
    batches: Number(row.batches),
  };
}
