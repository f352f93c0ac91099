/**
 * A TCP proxy in front of PostgreSQL that breaks connections on demand: stall, silent loss, reset, half-close, refusal. It also
 * simulates a longer way to the server, and counts how often it was gone.
 * Each fault may be limited to connections that match, by what their startup packet says.
 */
import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { startupParameters } from "./startup-packet.js";

/** One proxied connection. */
export interface ProxyConnection {
  /** 1 for the first connection of the proxy. */
  readonly number: number;
  /** `user`, `database`, `application_name` and what else the client announced. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Bytes that arrived from each side, passed on or not. */
  readonly received: { client: number; server: number };
}

/** Which connections a fault is for. By default all of them. */
export type Match = (connection: ProxyConnection) => boolean;

/** A running proxy. What is said of connections holds for those open now and, but for `cut` and `halfClose`, for later ones. */
export interface FaultProxy {
  readonly connectionString: string;
  connections(): readonly ProxyConnection[];
  /** Everything flows again; what was stalled arrives now, what was dropped is gone. */
  pass(match?: Match): Promise<void>;
  /** Nothing flows and nothing is lost: both sides wait. */
  stall(match?: Match): void;
  /** Both sides may write, and everything is lost in silence: a half-open connection. */
  drop(match?: Match): void;
  /** New connections are reset once they have said who they are. */
  refuse(match?: Match): void;
  /** Resets open connections (RST on both sides). */
  cut(match?: Match): void;
  /** Ends the direction to the client (FIN) and leaves the server's session as it is. */
  halfClose(match?: Match): void;
  /** Nobody listens on the port: connections are refused by the system. `pass` listens again. */
  close(): Promise<void>;
  /** The next connection that matches, or one that is open. */
  connection(match?: Match): Promise<ProxyConnection>;
  /** Requests that were answered, of all connections so far: how often the client spoke and then the server. */
  roundTrips(): number;
  /** New connections go to this server; those that are open stay where they are. */
  retarget(connectionString: string): void;
  /** Cuts everything and closes the port. */
  stop(): Promise<void>;
}

/** Settings of {@link startProxy}. */
export interface ProxyOptions {
  /** Time the network adds to a round trip, drawn anew for every packet, half of it each way. Default: none. */
  readonly rtt?: { readonly minMs: number; readonly maxMs: number };
}

type Mode = "pass" | "stall" | "drop" | "refuse";

interface Link extends ProxyConnection {
  mode: Mode;
  /** Whose bytes came last. */
  speaker: "client" | "server";
  readonly client: Socket;
  readonly server: Socket;
}

const everyone: Match = () => true;

/** Matches connections by their `application_name`. */
export function byApplication(name: string | RegExp): Match {
  return ({ parameters: { application_name: given = "" } }) =>
    typeof name === "string" ? given === name : name.test(given);
}

/** Starts a proxy on a free port. `connectionString` names the server, and the database and user to put into its own. */
export async function startProxy(connectionString: string, options: ProxyOptions = {}): Promise<FaultProxy> {
  let target = new URL(connectionString);
  const links = new Set<Link>();
  const events = new EventEmitter();
  // The last rule that matches decides.
  let rules: { readonly match: Match; readonly mode: Mode }[] = [];
  let opened = 0;
  let roundTrips = 0;
  const { rtt } = options;
  const oneWayMs = rtt && (() => (rtt.minMs + Math.random() * (rtt.maxMs - rtt.minMs)) / 2);

  const modeOf = (connection: ProxyConnection): Mode =>
    rules.findLast(({ match }) => match(connection))?.mode ?? "pass";
  const rule = (mode: Mode, match: Match = everyone): void => {
    if (match === everyone) rules = [];
    rules.push({ match, mode });
    for (const link of links) setMode(link, modeOf(link));
  };
  const accept = async (client: Socket): Promise<void> => {
    client.on("error", () => undefined);
    const number = ++opened;
    const [packet] = (await once(client, "data").catch(() => [])) as Buffer[];
    if (packet === undefined) return;
    client.pause();
    const received = { client: packet.length, server: 0 };
    const connection: ProxyConnection = { number, parameters: startupParameters(packet), received };
    const mode = modeOf(connection);
    if (mode === "refuse") return void client.resetAndDestroy();
    const server = connect({ host: target.hostname, port: Number(target.port || 5432) });
    const link: Link = { ...connection, mode: "pass", speaker: "client", client, server };
    const spoke = (speaker: Link["speaker"]): void => {
      if (link.speaker === "client" && speaker === "server") roundTrips += 1;
      link.speaker = speaker;
    };
    links.add(link);
    joinSockets(link, { spoke, oneWayMs, gone: () => links.delete(link) });
    if (mode !== "drop") server.write(packet);
    setMode(link, mode);
    events.emit("connection", link);
  };

  const door = createServer((client) => void accept(client));
  const listen = async (port: number): Promise<void> => void (await once(door.listen(port, "127.0.0.1"), "listening"));
  await listen(0);
  const { port } = door.address() as AddressInfo;
  const ours = new URL(target);
  ours.hostname = "127.0.0.1";
  ours.port = String(port);
  const matching = (match: Match): readonly Link[] => [...links].filter((link) => match(link));

  return {
    connectionString: ours.href,
    connections: () => [...links],
    pass: async (match) => {
      rule("pass", match);
      if (!door.listening) await listen(port);
    },
    stall: (match) => rule("stall", match),
    drop: (match) => rule("drop", match),
    refuse: (match) => rule("refuse", match),
    cut: (match = everyone) => {
      for (const link of matching(match)) {
        link.client.resetAndDestroy();
        link.server.resetAndDestroy();
      }
    },
    halfClose: (match = everyone) => {
      for (const link of matching(match)) {
        link.mode = "drop";
        link.client.end();
      }
    },
    close: async () => {
      if (door.listening) door.close();
    },
    connection: async (match = everyone) => {
      for (;;) {
        const open = matching(match)[0];
        if (open !== undefined) return open;
        await once(events, "connection");
      }
    },
    roundTrips: () => roundTrips,
    retarget: (to) => {
      target = new URL(to);
    },
    stop: async () => {
      if (door.listening) door.close();
      for (const link of links) {
        link.client.destroy();
        link.server.destroy();
      }
    },
  };
}

function setMode(link: Link, mode: Mode): void {
  // Refusal is for new connections; one that is open stays as it is.
  if (mode === "refuse") return;
  link.mode = mode;
  for (const socket of [link.client, link.server]) {
    if (mode === "stall") socket.pause();
    else socket.resume();
  }
  if (mode !== "pass") return;
  // What ended meanwhile is passed on too.
  if (link.client.destroyed) link.server.destroy();
  if (link.server.destroyed) link.client.destroy();
}

interface JoinParams {
  spoke(speaker: Link["speaker"]): void;
  readonly oneWayMs: (() => number) | undefined;
  gone(): void;
}

function joinSockets(link: Link, { spoke, oneWayMs, gone }: JoinParams): void {
  const carry = (from: Socket, to: Socket, side: "client" | "server"): void => {
    const underWay = oneWayMs && delayLine(oneWayMs, (chunk) => to.writable && to.write(chunk));
    from.on("data", (chunk: Buffer) => {
      link.received[side] += chunk.length;
      spoke(side);
      if (underWay !== undefined && link.mode !== "drop") return underWay.send(chunk);
      if (link.mode === "drop" || to.writableEnded || to.write(chunk)) return;
      from.pause();
      to.once("drain", () => link.mode !== "stall" && from.resume());
    });
    from.on("end", () => link.mode === "pass" && to.end());
    from.on("error", () => link.mode === "pass" && to.destroy());
    from.on("close", () => {
      if (link.mode === "pass") to.destroySoon();
      if (link.client.closed && link.server.closed) gone();
    });
  };
  carry(link.client, link.server, "client");
  carry(link.server, link.client, "server");
}

/** Packets arrive after their time on the way, and never before one that left earlier. */
function delayLine(oneWayMs: () => number, arrive: (chunk: Buffer) => void): { send(chunk: Buffer): void } {
  let lastAt = 0;
  return {
    send: (chunk) => {
      const now = performance.now();
      lastAt = Math.max(lastAt, now + oneWayMs());
      setTimeout(() => arrive(chunk), lastAt - now);
    },
  };
}
