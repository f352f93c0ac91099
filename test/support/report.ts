/** The child's side of `processes.ts`: tells the test something, or waits until the test says something. */
import type { ProcessMessage } from "./processes.js";

/** Sends a named message to the test that started this process. */
export function report(name: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.send?.({ name, ...fields });
}

/** The next message of this name from the test. Keeps this process alive meanwhile. */
export function told(name: string): Promise<ProcessMessage> {
  process.channel?.ref();
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if ((message as ProcessMessage).name !== name) return;
      process.off("message", hear);
      process.channel?.unref();
      resolve(message as ProcessMessage);
    };
    process.on("message", hear);
  });
}
