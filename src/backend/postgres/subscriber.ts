/**
 * A pg-listen subscriber together with the pg client inside it. pg-listen keeps its client private, but the node's life
 * lock, the SLEEP locks and the heartbeats must be on the very session that listens (one LISTEN connection per process).
 * It makes its client in the constructor call, synchronously, from `pg.Client`: for that moment a subclass stands there.
 *
 * What pg-listen does badly by itself is switched off (measured on 1.7.0): its reconnect gives up after three seconds,
 * ignores `close()`, and accepts a standby; its paranoid check never times out. One subscriber is one connection's life;
 * `wake/listener.ts` makes the next.
 */
import pg from "pg";
import createSubscriber, { type Subscriber } from "pg-listen";

/** One LISTEN connection, not connected yet. */
export interface ListeningClient {
  readonly subscriber: Subscriber<Record<string, string>>;
  readonly client: pg.Client;
}

export function createListeningClient(config: pg.ClientConfig): ListeningClient {
  const Client = pg.Client;
  let client: pg.Client | undefined;
  pg.Client = class extends Client {
    constructor(options?: string | pg.ClientConfig) {
      super(options);
      client = this;
    }
  };
  try {
    const subscriber = createSubscriber.default(config, {
      paranoidChecking: false,
      retryLimit: 1,
      parse: (payload) => payload,
    }) as Subscriber<Record<string, string>>;
    if (client === undefined) throw new Error("pg-listen uses another copy of pg; install one version of pg only");
    return { subscriber, client };
  } finally {
    pg.Client = Client;
  }
}
