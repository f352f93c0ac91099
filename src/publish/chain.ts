/** `mq.chain`: stores the first step; each acknowledgement hands over to the next (J4). */
import { randomUUID } from "node:crypto";
import type { OutgoingMessage } from "../batch/outgoing.js";
import { encodeMeta, encodePayload } from "../batch/payload.js";
import { encodeChain, type RemainingStep } from "../chain/chain.js";
import { PostriderError } from "../errors.js";
import type { SqlExecutor } from "../transaction/executors.js";
import type { Scope } from "../transaction/scope.js";
import type { Placed } from "./entry.js";
import type { QueuePublisher } from "./publish.js";
import type { ChainStep, PublishedChain, StepOptions } from "./publisher.js";

const maxSteps = 100;
/** Of everything after the first step: it is stored with every step on its way. */
const maxRemainingBytes = 8 * 1024 * 1024;

/** What only this module knows of a step. */
interface Made {
  readonly to: QueuePublisher;
  readonly message: OutgoingMessage;
}

const made = new WeakMap<ChainStep, Made>();

/** Encodes and checks the message now, as publishing does. @throws PostriderError as publishing does */
export function chainStep(to: QueuePublisher, message: unknown, options: StepOptions | undefined): ChainStep {
  // Never a repeat of anything: no dedup key.
  const { dedupKey: _, ...outgoing } = to.prepare(message, options, false);
  const step: ChainStep = Object.freeze({ queue: to.definition.name });
  made.set(step, { to, message: outgoing });
  return step;
}

/** @param isOurs - whether a publisher is this client's */
export async function publishChain(
  steps: readonly ChainStep[],
  {
    tx,
    scope,
    isOurs,
  }: { tx: SqlExecutor | undefined; scope: Scope | undefined; isOurs: (to: QueuePublisher) => boolean },
): Promise<PublishedChain> {
  const [first, ...rest] = steps.map((step, index) => {
    const known = made.get(step);
    if (known !== undefined && isOurs(known.to)) return known;
    throw badChain(`its step ${index + 1} was not made by a step() of this client`);
  });
  if (first === undefined) throw badChain("it has no step");
  if (steps.length > maxSteps) throw badChain(`it has ${steps.length} steps; ${maxSteps} are allowed`);
  const chainId = randomUUID();
  const chain = encodeChain({ id: chainId, step: 1, steps: steps.length, rest: rest.map(remainingOf) });
  const bytes = Buffer.byteLength(chain);
  if (bytes > maxRemainingBytes) {
    throw badChain(`the steps after its first have ${bytes} bytes of JSON; ${maxRemainingBytes} are allowed`);
  }
  const message = { ...first.message, stowage: { ...first.message.stowage, alone: true, chain } };
  const answer = ({ batchIds: [batchId = ""] }: Placed): PublishedChain => ({ chainId, batchId });
  return await first.to.publish([message], tx === undefined ? undefined : { tx }, scope, answer);
}

function remainingOf({ to, message }: Made): RemainingStep {
  const { priority, delayMs, maxAttempts, staleAfterMs } = message.stowage;
  const meta = encodeMeta([message.headers]);
  return {
    queue: to.definition.name,
    version: to.definition.settings.version,
    priority,
    payload: encodePayload([message]),
    ...(meta === undefined ? {} : { meta }),
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(staleAfterMs === undefined ? {} : { staleAfterMs }),
  };
}

function badChain(what: string): PostriderError {
  return new PostriderError("ERR_CHAIN", `a chain cannot be stored: ${what}`);
}
