/**
 * The process that owns the server of one directory. It counts the connections of those who use it and stops the server
 * when the last is gone. A program of its own, started by `spawn-keeper.ts`.
 */
import { readFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Binaries } from "./binaries.js";
import { isKept } from "./find-keeper.js";
import { type ClientWord, type KeeperWord, meetingPorts, onWord, proof, say } from "./meeting.js";
import { isAlive, type RunningServer } from "./pid-file.js";
import { leftOverServer, startServer, stopServer } from "./server.js";
import { type ServerSite, serverSite } from "./server-site.js";

/** What a keeper is told, as JSON in its first argument. */
export interface KeeperRequest {
  readonly directory: string;
  readonly settings: Readonly<Record<string, string | number>>;
  /** Only take over a server that runs: asked by its users when their keeper died. */
  readonly adopt: boolean;
  readonly binaries: Binaries;
}

// Whoever started us comes within this time, or has died.
const firstClientMs = 10_000;
const watchMs = 1_000;

const request = JSON.parse(process.argv[2] ?? "{}") as KeeperRequest;
const password = (await readFile(join(request.directory, "password"), "utf8")).trim();
const clients = new Set<Socket>();
const door = createServer(receive);
let site: ServerSite | undefined;
let server: RunningServer | undefined;
let answer: KeeperWord | undefined;
let provided: Promise<void> | undefined;
let ending: Promise<never> | undefined;

process.on("SIGTERM", end);
process.on("SIGINT", end);
process.on("SIGHUP", () => undefined);
await takePort(door);
process.stdout.write("listening\n");
setTimeout(endIfUnused, firstClientMs);
provided = provideServer();

/** Binds the first free port of the directory. There is one keeper: if another has a port, this one gives way. */
async function takePort(socketServer: Server): Promise<void> {
  for (const port of meetingPorts(request.directory)) {
    if (await listens(socketServer, port)) return;
    if (await isKept(request.directory, password)) process.exit();
  }
  throw new Error(`strangers sit on every port of ${request.directory}`);
}

function listens(socketServer: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    socketServer.once("error", () => resolve(false));
    socketServer.listen({ host: "127.0.0.1", port, exclusive: true }, () => resolve(true));
  });
}

async function provideServer(): Promise<void> {
  try {
    site = await serverSite(request.directory, password, request.binaries);
    server = await leftOverServer(site);
    if (server === undefined && request.adopt) process.exit();
    server ??= await startServer(site, password, request.settings);
    answer = { port: server.port };
    setInterval(endIfServerDied, watchMs, server.pid);
  } catch (error) {
    answer = { error: (error as Error).message };
  }
  for (const socket of clients) say(socket, answer);
}

function receive(socket: Socket): void {
  socket.on("error", () => undefined);
  socket.once("close", () => left(socket));
  onWord<ClientWord>(socket, (word) => {
    if (word.leave === true) return left(socket);
    const isOurs = typeof word.nonce === "string" && word.proof === proof(password, `client ${word.nonce}`);
    if (!isOurs) return void socket.destroy();
    say(socket, { proof: proof(password, `keeper ${word.nonce}`) });
    // Who comes while the server stops hears nothing more until we hang up, and then starts it again.
    if (ending !== undefined || word.asks === true) return;
    clients.add(socket);
    if (answer !== undefined) say(socket, answer);
  });
}

function left(socket: Socket): void {
  if (!clients.delete(socket)) return;
  if (clients.size === 0) return void end();
  socket.end();
}

function endIfUnused(): void {
  if (clients.size === 0) end();
}

function endIfServerDied(pid: number): void {
  if (!isAlive(pid)) process.exit();
}

// The port is the lock of the directory, and a closed connection says "stopped": both are given up only when it is so.
function end(): void {
  ending ??= stopAndExit();
}

async function stopAndExit(): Promise<never> {
  // A server that is just being started must not be left behind.
  await provided;
  if (site !== undefined && server !== undefined) await stopServer(site, server);
  process.exit();
}
