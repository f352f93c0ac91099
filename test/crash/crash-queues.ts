/** The queues of the crash tests, the same in every process. */
import { testQueue } from "../support/queue-definition.js";

export const crashQueues = [testQueue("alone"), testQueue("together"), testQueue("together-too")];
