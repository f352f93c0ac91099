/** The name of the database schema: checked once, here, and from then on only used in its quoted form (J8). */
import { PostriderError } from "../../errors.js";

const longestNameBytes = 63;

/** A schema name that may be put into SQL text: `quoted` as an identifier, `literal` as a string. */
export interface SchemaName {
  readonly name: string;
  readonly quoted: string;
  readonly literal: string;
}

/**
 * Checks and quotes a schema name. Any text of 1 to 63 bytes is one, `Odd-Name` and `naïve schema` included.
 *
 * @throws PostriderError `ERR_SCHEMA_NAME`
 */
export function schemaName(name: string): SchemaName {
  const fault = faultOf(name);
  if (fault !== undefined) {
    throw new PostriderError("ERR_SCHEMA_NAME", `schema name ${JSON.stringify(name)} ${fault}`, {
      details: { schema: name },
    });
  }
  return { name, quoted: `"${name.replaceAll('"', '""')}"`, literal: literal(name) };
}

function faultOf(name: unknown): string | undefined {
  if (typeof name !== "string") return "is no text";
  if (name === "") return "is empty";
  const bytes = Buffer.byteLength(name);
  if (bytes > longestNameBytes) return `has ${bytes} bytes; PostgreSQL keeps ${longestNameBytes}`;
  if (/\p{Cs}/u.test(name)) return "holds half a surrogate pair";
  // Migrations put the name into function bodies and comments too: a line break ends a comment, and a dollar tag ends a body.
  if (/\p{Cc}/u.test(name)) return "holds a control character";
  if (/\$.*\$/.test(name)) return "holds two dollar signs";
  if (name.startsWith("pg_")) return "begins with pg_, which PostgreSQL keeps for itself";
  if (name === "information_schema") return "belongs to PostgreSQL";
  return undefined;
}

// With a backslash in it, E'' reads the same whatever standard_conforming_strings says.
function literal(name: string): string {
  const quotes = name.replaceAll("'", "''");
  return name.includes("\\") ? ` E'${quotes.replaceAll("\\", "\\\\")}'` : `'${quotes}'`;
}
