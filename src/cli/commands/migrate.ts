/** `postrider migrate`: applies the committed migrations, or shows, prints or undoes them. */
import { type Command, Option } from "commander";
import pg from "pg";
import { dropSchema, migrate, migrationStatus, printMigrations } from "../../backend/postgres/migrate.js";
import { schemaName } from "../../backend/postgres/schema-name.js";
import { confirm } from "../confirm.js";
import { type DatabaseOptions, databaseCommand, withDatabase } from "../with-database.js";

interface MigrateFlags extends DatabaseOptions {
  readonly print?: boolean;
  readonly status?: boolean;
  readonly drop?: boolean;
  readonly yes?: boolean;
}

/** The command, with its options. */
export function migrateCommand(): Command {
  return databaseCommand("migrate")
    .description("Applies what is missing; safe to run at any time and from several nodes at once.")
    .addOption(
      new Option("--print", "print the SQL for an empty database and run nothing").conflicts(["status", "drop"]),
    )
    .addOption(new Option("--status", "show what is applied; exit code 1 if anything is not").conflicts("drop"))
    .option("--drop", "drop the schema and every message in it (asks)")
    .option("--yes", "do not ask")
    .action(run);
}

async function run(flags: MigrateFlags): Promise<void> {
  const { schema } = flags;
  if (flags.print === true) return void process.stdout.write(await printMigrations(schema));
  await withDatabase(flags, async (connectionString) => {
    if (flags.status === true) return await showStatus(connectionString, schema);
    if (flags.drop === true) return await drop(connectionString, flags);
    const applied = await migrate({ database: { connectionString }, schema });
    const outcome = applied.length === 0 ? "up to date" : `applied ${applied.join(", ")}`;
    process.stdout.write(`schema ${schemaName(schema).quoted}: ${outcome}\n`);
  });
}

async function showStatus(connectionString: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString, application_name: "postrider migrate" });
  await client.connect();
  try {
    const states = await migrationStatus(client, schema);
    for (const { name, state, appliedAt } of states) {
      process.stdout.write(`${name}  ${state}${appliedAt === undefined ? "" : `  ${appliedAt.toISOString()}`}\n`);
    }
    if (states.some(({ state }) => state !== "applied")) process.exitCode = 1;
  } finally {
    await client.end();
  }
}

async function drop(connectionString: string, { schema, yes }: MigrateFlags): Promise<void> {
  const { quoted } = schemaName(schema);
  const where = new pg.Client(connectionString).database;
  const isSure =
    yes === true || (await confirm(`Drop schema ${quoted} of database ${where}, with every message in it?`));
  if (!isSure) {
    process.stdout.write("nothing was dropped\n");
    process.exitCode = 1;
    return;
  }
  await dropSchema({ database: { connectionString }, schema });
  process.stdout.write(`schema ${quoted} is gone\n`);
}
