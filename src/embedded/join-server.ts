/**
 * The client's side of the keeper: find it, or start one, and hold a connection to it. The connection is the reference that
 * keeps the server running; the system closes it however this process ends, SIGKILL included.
 */
import type { Socket } from "node:net";
import { PostriderError } from "../errors.js";
import { findKeeper, type Keeper } from "./find-keeper.js";
import { say } from "./meeting.js";
import { spawnKeeper } from "./spawn-keeper.js";

/** Which server to join, and how to start it if it does not run. */
export interface ServerRequest {
  readonly directory: string;
  readonly password: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** A reference to a running server. */
export interface JoinedServer {
  readonly port: number;
  leave(): Promise<void>;
}

// Another process may stop the server while we come; more often than this in a row, something is broken.
const attempts = 10;

/** Joins the server of a directory. */
export async function joinServer(request: ServerRequest): Promise<JoinedServer> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const keeper = (await findKeeper(request.directory, request.password)) ?? (await startKeeper(request));
    if (keeper === undefined) continue;
    const { port, error } = await keeper.answer;
    if (error !== undefined) {
      keeper.socket.destroy();
      throw new PostriderError("ERR_EMBEDDED_UNAVAILABLE", `the embedded PostgreSQL did not start: ${error}`);
    }
    if (port !== undefined) return hold(request, keeper.socket, port);
  }
  throw new PostriderError(
    "ERR_EMBEDDED_UNAVAILABLE",
    `the server in ${request.directory} stopped as often as it was joined`,
  );
}

async function startKeeper(request: ServerRequest): Promise<Keeper | undefined> {
  await spawnKeeper({ ...request, adopt: false });
  return await findKeeper(request.directory, request.password);
}

function hold(request: ServerRequest, first: Socket, port: number): JoinedServer {
  let socket = first;
  let leaving: Promise<void> | undefined;
  const watch = (): void => {
    // It must not keep a process alive that has nothing else to do.
    socket.unref();
    socket.once("close", () => void rejoin());
  };
  // Somebody killed the keeper: a new one adopts the server, which otherwise nobody would stop.
  const rejoin = async (): Promise<void> => {
    const next = await findAdopter(request, () => leaving !== undefined);
    if (next === undefined) return;
    socket = next;
    if (leaving === undefined) watch();
    else socket.destroy();
  };
  watch();
  return {
    port,
    leave: () => {
      leaving ??= depart(socket);
      return leaving;
    },
  };
}

/** A connection to a keeper that has the server in its care; undefined when there is no server any more. */
async function findAdopter(request: ServerRequest, isLeaving: () => boolean): Promise<Socket | undefined> {
  // A busy machine may keep a keeper from introducing itself in time: not to ask again would let the server stop under us.
  for (let attempt = 0; attempt < attempts && !isLeaving(); attempt += 1) {
    await spawnKeeper({ ...request, adopt: true }).catch(() => undefined);
    const keeper = await findKeeper(request.directory, request.password);
    if (keeper === undefined) continue;
    return (await keeper.answer).port === undefined ? undefined : keeper.socket;
  }
  return undefined;
}

/** Says goodbye; resolves when the keeper answers, which it does after the server has stopped if nobody else is left. */
function depart(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) return resolve();
    socket.ref();
    socket.once("close", () => resolve());
    say(socket, { leave: true });
  });
}
