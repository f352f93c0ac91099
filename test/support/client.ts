/** Clients for tests: closed at the end of the test whatever happens, with everything they said kept. */
import { createRuntime, type RuntimeOptions } from "../../src/create-runtime.js";
import type { EventName, Events, Logger } from "../../src/instrument.js";
import type { Runtime } from "../../src/runtime.js";

/** What a client has logged. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger that keeps its lines. */
export function keptLog(): Logger & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const to = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message });
  };
  return { lines, debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
}

/** Where a client's end is registered: a test or a suite. */
export interface Ending {
  after(fn: () => Promise<void>): void;
}

/** A client that is stopped at the end of `t`. Silent unless given a logger. */
export function testClient(t: Ending, options: RuntimeOptions): Runtime {
  const client = createRuntime({ logger: keptLog(), ...options });
  t.after(() => client.stop({ timeoutMs: 2_000 }));
  return client;
}

/** Collects the events of one kind from now on. */
export function heard<Name extends EventName>(client: Pick<Runtime, "on">, name: Name): Events[Name][] {
  const all: Events[Name][] = [];
  client.on(name, (event) => all.push(event));
  return all;
}

/** The next event of one kind that fits. */
export function nextEvent<Name extends EventName>(
  client: Pick<Runtime, "on">,
  name: Name,
  fits: (event: Events[Name]) => boolean = () => true,
): Promise<Events[Name]> {
  return new Promise((resolve) => {
    const off = client.on(name, (event) => {
      if (!fits(event)) return;
      off();
      resolve(event);
    });
  });
}
