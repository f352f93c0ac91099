/** As whom the server runs. PostgreSQL refuses to run as root, so root lends it an ordinary user. */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Numbers of the user the server runs as; none if it simply runs as we do. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The user for the server: ourselves, or for root the user `postgres`, made if there is none, or else `nobody`. */
export async function serverUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  const found = await userNumbers("postgres");
  if (found !== undefined) return found;
  await run("useradd", ["--system", "--user-group", "--no-create-home", "postgres"]).catch(() => undefined);
  const lent = (await userNumbers("postgres")) ?? (await userNumbers("nobody"));
  if (lent === undefined)
    throw new Error("PostgreSQL does not run as root, and there is neither a user postgres nor nobody");
  return lent;
}

/** Whether the user may walk to this path: with root's project below /root it may not. */
export async function canReach(path: string, user: ServerUser): Promise<boolean> {
  if (user.uid === undefined) return true;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function userNumbers(name: string): Promise<ServerUser | undefined> {
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}
