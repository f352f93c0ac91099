/** A backend that misbehaves as real ones do, by a seed: the same seed and the same calls give the same faults (K4). */
import type { Backend, HeartbeatAnswer, PollRequest, PollResult } from "../backend/backend.js";
import { MemoryBackend } from "../backend/memory/memory-backend.js";
import { decorate } from "./decorate.js";
import { duplicateDelivery } from "./duplicate-delivery.js";
import { randomStream } from "./random-stream.js";
import { realPause } from "./real-time.js";

/** What goes wrong, and how often: probabilities from 0 to 1, all 0 by default. */
export interface ChaosOptions {
  readonly seed: number;
  /** What misbehaves. Default: a new memory backend. */
  readonly backend?: Backend;
  /** A publish is stored twice. */
  readonly duplicate?: number;
  /** Every verb of delivery takes up to so many milliseconds longer. */
  readonly delayMs?: number;
  /** The batches of a claim come in another order. */
  readonly reorder?: number;
  /** A verb of delivery fails without having done anything. Publishing does not: what it rejects is the caller's. */
  readonly failStatement?: number;
  /** A statement that settles does its work, and its answer is lost. */
  readonly loseAck?: number;
  /** A claimed batch is given to somebody else while its handler runs. */
  readonly expireLease?: number;
}

/** What a backend under {@link chaos} throws. It is passing: the client tries again. */
export class ChaosError extends Error {
  /** Whether the work was done all the same. */
  readonly isDone: boolean;

  constructor(verb: string, isDone: boolean) {
    super(`chaos: ${verb} ${isDone ? "was done, and its answer lost" : "failed"}`);
    this.name = "ChaosError";
    this.isDone = isDone;
  }
}

/** Verbs that settle what was claimed. */
const settling = ["ack", "retry", "deadLetter", "release", "settlePart", "divide"] as const;

/** Wraps a backend. Give it to `withTestMq({ backend })` or to a client. */
export function chaos(options: ChaosOptions): Backend {
  const { seed, backend = new MemoryBackend(), duplicate = 0, delayMs = 0, failStatement = 0, loseAck = 0 } = options;
  const twice = duplicateDelivery(backend);
  const publishes = randomStream(seed, "publish");

  // A stream for each verb: what one verb meets does not depend on how often the others were called.
  const disturbed = <Args extends unknown[], Answer>(
    verb: string,
    call: (...args: Args) => Promise<Answer>,
    lose = 0,
  ) => {
    const random = randomStream(seed, verb);
    return async (...args: Args): Promise<Answer> => {
      const [waitMs, fails, isLost] = [random() * delayMs, random() < failStatement, random() < lose];
      if (waitMs > 0) await realPause(waitMs);
      if (fails) throw new ChaosError(verb, false);
      const answer = await call(...args);
      if (isLost) throw new ChaosError(verb, true);
      return answer;
    };
  };

  const replaced: Record<string, unknown> = {
    publish: (...args: Parameters<Backend["publish"]>) => (publishes() < duplicate ? twice : backend).publish(...args),
    poll: disturbed("poll", disturbedPoll(backend, options)),
    heartbeat: disturbed("heartbeat", (leases: Parameters<Backend["heartbeat"]>[0]) => backend.heartbeat(leases)),
    listen: async (...args: Parameters<Backend["listen"]>) => {
      const session = await backend.listen(...args);
      const beat = disturbed<Parameters<typeof session.heartbeat>, ReadonlyMap<string, HeartbeatAnswer>>(
        "session heartbeat",
        (leases) => session.heartbeat(leases),
      );
      return new Proxy(session, {
        get(target, key) {
          if (key === "heartbeat") return beat;
          const value: unknown = Reflect.get(target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
    isPassing: (error: unknown) => error instanceof ChaosError || backend.isPassing(error),
    isUnanswered: (error: unknown) => (error instanceof ChaosError ? error.isDone : backend.isUnanswered(error)),
  };
  for (const verb of settling) {
    const call = (...args: unknown[]) => Reflect.apply(backend[verb], backend, args) as Promise<unknown>;
    replaced[verb] = disturbed(verb, call, loseAck);
  }
  return decorate(backend, replaced as Partial<Backend>);
}

function disturbedPoll(backend: Backend, { seed, reorder = 0, expireLease = 0 }: ChaosOptions) {
  const random = randomStream(seed, "claim");
  return async (request: PollRequest): Promise<PollResult> => {
    const result = await backend.poll(request);
    const batches = [...result.batches];
    if (random() < reorder) batches.reverse();
    const expired = batches.filter(() => random() < expireLease);
    // The row is somebody else's from now on, as after a recovery: this owner's token settles nothing any more.
    if (expired.length > 0) await backend.release(expired, 0);
    return { ...result, batches };
  };
}
