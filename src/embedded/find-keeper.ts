/** Looks for the keeper of a directory on its ports. */
import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { type KeeperWord, meetingPorts, onWord, proof, say } from "./meeting.js";

// A stranger on one of our ports that says nothing costs this much.
const introductionMs = 2_000;
// And once, for whoever is to become the keeper, this much.
const busyKeeperMs = 20_000;

/** A connection to a keeper that proved who it is. */
export interface Keeper {
  readonly socket: Socket;
  /** The server's port once it is ready, or why it did not start; neither if the keeper hung up, having stopped it. */
  readonly answer: Promise<KeeperWord>;
}

/** Asks each port of the directory in turn. The connection counts as a user of the server. */
export async function findKeeper(directory: string, password: string): Promise<Keeper | undefined> {
  for (const port of meetingPorts(directory)) {
    const keeper = await greet(port, password, { asks: false, patienceMs: introductionMs });
    if (keeper !== undefined) return keeper;
  }
  return undefined;
}

/**
 * Whether a keeper listens on one of the ports, for another one that would give way to it. It only asks: counted as a user,
 * its leaving would stop a server whose users are still on their way. And it is patient: a keeper on a busy machine that was
 * taken for a stranger would have a second one beside it, and either would stop the server under the other's users.
 */
export async function isKept(directory: string, password: string): Promise<boolean> {
  for (const port of meetingPorts(directory)) {
    const keeper = await greet(port, password, { asks: true, patienceMs: busyKeeperMs });
    keeper?.socket.destroy();
    if (keeper !== undefined) return true;
  }
  return false;
}

interface Greeting {
  readonly asks: boolean;
  readonly patienceMs: number;
}

/** Connects to a port and finds out whether our keeper listens there. */
function greet(port: number, password: string, { asks, patienceMs }: Greeting): Promise<Keeper | undefined> {
  return new Promise((resolve) => {
    const nonce = randomUUID();
    const socket = connect({ host: "127.0.0.1", port });
    let answered: (word: KeeperWord) => void = () => undefined;
    const answer = new Promise<KeeperWord>((settle) => {
      answered = settle;
    });
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.on("connect", () => say(socket, { nonce, proof: proof(password, `client ${nonce}`), asks }));
    socket.on("close", () => {
      answered({});
      resolve(undefined);
    });
    onWord<KeeperWord>(socket, (word) => {
      if (word.proof !== undefined && word.proof !== proof(password, `keeper ${nonce}`)) return void socket.destroy();
      if (word.proof !== undefined) {
        socket.setTimeout(0);
        resolve({ socket, answer });
      }
      if (word.port !== undefined || word.error !== undefined) answered(word);
    });
  });
}
