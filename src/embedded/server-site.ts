/** Where a server's parts are, and as whom it runs. */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { Binaries } from "./binaries.js";
import { canReach, type ServerUser, serverUser } from "./server-user.js";
import { usableBinaries } from "./usable-binaries.js";

// Where root keeps what the server's user must reach but cannot below root's own folders.
const rootPlace = "/var/lib/postrider";

/** Everything that starting and stopping needs to know. */
export interface ServerSite {
  readonly data: string;
  readonly log: string;
  readonly binaries: Binaries;
  readonly user: ServerUser;
}

/** Decides where data and programs are: in the directory, unless the server's user cannot reach them there. */
export async function serverSite(directory: string, password: string, binaries: Binaries): Promise<ServerSite> {
  const user = await serverUser();
  const log = join(directory, "postgres.log");
  const inside = join(directory, "postgres");
  const isReachable = await canReach(inside, user);
  const data = isReachable ? inside : outside(directory, password);
  const place = isReachable ? directory : rootPlace;
  return { data, log, user, binaries: await usableBinaries(binaries, user, place) };
}

/** The environment of the programs: English messages, and none of the caller's own PGPORT, PGDATA, PGOPTIONS. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([key]) => !key.startsWith("PG") && !key.startsWith("LC_"));
  return { ...Object.fromEntries(kept), LC_ALL: "C" };
}

// The password is in the name because it is in the data: who removes the directory and begins anew gets new data too.
function outside(directory: string, password: string): string {
  const key = createHash("sha256").update(`${directory}\0${password}`).digest("hex").slice(0, 16);
  return join(rootPlace, `${basename(directory)}-${key}`);
}
