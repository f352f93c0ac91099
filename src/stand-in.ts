/**
 * The default clients of generated code, whose place the test kit's client takes while a test runs. Everything taken from a
 * default client beforehand, publishers and listeners included, leads to the stand-in for that time.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { forwarding } from "./forwarding.js";
import type { Runtime } from "./runtime.js";

const defaults = new Set<Runtime>();
const storage = new AsyncLocalStorage<Runtime>();
const standing = new Set<Runtime>();

/** Marks the client that a generated module exports as its own. */
export function defaultClient<Client extends Runtime>(client: Client): Client {
  defaults.add(client);
  return forwarding(() => (currentStandIn() ?? client) as Client);
}

export function defaultClients(): readonly Runtime[] {
  return [...defaults];
}

/** Runs the body with this client in the default clients' place, also in what the body starts. */
export async function standingIn<T>(client: Runtime, body: () => Promise<T>): Promise<T> {
  standing.add(client);
  try {
    return await storage.run(client, body);
  } finally {
    standing.delete(client);
  }
}

/** Whoever stands in where this is called. */
export function currentStandIn(): Runtime | undefined {
  if (standing.size === 0) return undefined;
  const own = storage.getStore();
  if (own !== undefined && standing.has(own)) return own;
  // Called by a timer or an emitter that is older than the test. With one test at a time it can only mean that one.
  const [only, another] = standing;
  return another === undefined ? only : undefined;
}
