/** The names that are taken: the generated module's own exports, the client's members, and what every object inherits. */

/** What `generated/index.js` and its declarations export beside the queues. */
export const clientExports: ReadonlySet<string> = new Set(["createClient", "mq", "publishTo", "Client", "PublishTo"]);

/** The members of a client, which `on<Type>` must not hide. A test compares this list with the runtime. */
export const clientMembers: ReadonlySet<string> = new Set([
  ...[
    "publishTo",
    "start",
    "stop",
    "stopOnSignals",
    "hooks",
    "transaction",
    "afterCommit",
    "transactionState",
    "flush",
  ],
  ...["queue", "inspect", "progress", "chain", "lastActivity", "health", "metrics", "on"],
]);

/** What every JavaScript object inherits; ajv and TypeScript are both blind to such a property's absence. */
export const inheritedNames: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** File names that Windows keeps for devices. */
export const windowsDevices: ReadonlySet<string> = new Set([
  ...["con", "prn", "aux", "nul"],
  ...Array.from({ length: 9 }, (_, at) => `com${at + 1}`),
  ...Array.from({ length: 9 }, (_, at) => `lpt${at + 1}`),
]);
