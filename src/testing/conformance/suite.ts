/** The conformance suite: what a backend must do, whichever it is. */
import { ackCases } from "./ack.js";
import type { ConformanceCase } from "./case.js";
import { chainCases } from "./chain.js";
import { claimCases } from "./claim.js";
import { deadLetterCases } from "./dead-letter.js";
import { divideCases } from "./divide.js";
import { heartbeatCases } from "./heartbeat.js";
import { inspectCases } from "./inspect.js";
import { limitCases } from "./limits.js";
import { listenCases } from "./listen.js";
import { orderCases } from "./order.js";
import { progressCases } from "./progress.js";
import { publishCases } from "./publish.js";
import { recoverCases } from "./recover.js";
import { registerCases } from "./register.js";
import { releaseCases } from "./release.js";
import { retryCases } from "./retry.js";
import { scheduleCases } from "./schedule.js";
import { settlePartCases } from "./settle-part.js";
import { uniqueCases } from "./unique.js";

function tidied({ run, ...one }: ConformanceCase): ConformanceCase {
  return { ...one, run: (subject) => run(subject).finally(() => subject.tidy()) };
}

const cases: Readonly<Record<string, readonly ConformanceCase[]>> = {
  publish: publishCases,
  claim: claimCases,
  ack: ackCases,
  retry: retryCases,
  "dead-letter": deadLetterCases,
  release: releaseCases,
  "settle-part": settlePartCases,
  divide: divideCases,
  heartbeat: heartbeatCases,
  recover: recoverCases,
  register: registerCases,
  listen: listenCases,
  unique: uniqueCases,
  order: orderCases,
  limits: limitCases,
  inspect: inspectCases,
  chain: chainCases,
  progress: progressCases,
  schedule: scheduleCases,
};

/** Every case, by verb. Run each with a {@link Subject} made of the backend; they may share one, and run one after another. */
export const conformanceSuite: Readonly<Record<string, readonly ConformanceCase[]>> = Object.fromEntries(
  Object.entries(cases).map(([verb, some]) => [verb, some.map(tidied)]),
);
