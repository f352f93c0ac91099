/** Every system that can be compared, and which of them are here to be run. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface SystemEntry {
  readonly name: string;
  /** As tables and charts show it. */
  readonly title: string;
  readonly file: string;
  readonly version: string;
  /** Where it fails, the others are measured all the same. */
  readonly isPeer?: true;
}

const peersFolder = join(import.meta.dirname, "..", "peers");
const ownFile = (name: string) => join(import.meta.dirname, `${name}.ts`);
const packageVersion = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;

const root = join(import.meta.dirname, "..", "..");
const pgVersion = `pg ${packageVersion(join(root, "node_modules", "pg"))}`;

export const postrider: SystemEntry = {
  name: "postrider",
  title: "postrider",
  file: ownFile("postrider"),
  version: packageVersion(root),
};
export const plainRows: SystemEntry = {
  name: "plain-rows",
  title: "plain SQL, a row a message",
  file: ownFile("plain-rows"),
  version: pgVersion,
};
export const plainHundreds: SystemEntry = {
  name: "plain-hundreds",
  title: "plain SQL, 100 messages a row",
  file: ownFile("plain-hundreds"),
  version: pgVersion,
};

export const plainBare: SystemEntry = {
  name: "plain-bare",
  title: "plain SQL, a bare two-column table",
  file: ownFile("plain-bare"),
  version: pgVersion,
};

/** The peers that are installed: `npm ci --prefix bench/peers`. */
export function installedPeers(): readonly SystemEntry[] {
  const titles = { "pg-boss": "pg-boss", "graphile-worker": "graphile-worker", bullmq: "BullMQ on Postgres" };
  return Object.entries(titles)
    .filter(([name]) => existsSync(join(peersFolder, "node_modules", name)))
    .map(([name, title]) => ({
      name,
      title,
      file: join(peersFolder, `${name}.ts`),
      version: packageVersion(join(peersFolder, "node_modules", name)),
      isPeer: true,
    }));
}

/** @throws where there is none of that name */
export function systemNamed(name: string): SystemEntry {
  const all = [postrider, plainRows, plainHundreds, ...installedPeers()];
  const found = all.find((entry) => entry.name === name);
  if (found === undefined)
    throw new Error(`no system "${name}"; there are: ${all.map((entry) => entry.name).join(", ")}`);
  return found;
}

/** The node that runs every system: the newer one that some peers need, where it is installed, so that all run on the same. */
export function nodeOfSystems(): string {
  const newer = join(peersFolder, "node_modules", "node", "bin", "node");
  return existsSync(newer) ? newer : process.execPath;
}
