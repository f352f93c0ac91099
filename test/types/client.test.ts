/** What a user's compiler says about the generated client: inference, refusals, guards, and no `any` anywhere. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type * as TypeScript from "typescript";
import { typeErrors } from "../codegen/type-check.js";

const ts = createRequire(import.meta.url)("typescript") as typeof TypeScript;
const file = fileURLToPath(new URL("user-code.ts", import.meta.url));

const userCode = `
import { createClient, type EmailSend, isOrderPlaced, mq, onOrderPlaced, type OrderPlaced, publishTo } from "../../generated/index.js";

type IsAny<T> = 0 extends 1 & T ? true : false;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function sure<T extends true>(): T | undefined { return undefined; }

const order: OrderPlaced = {
  orderId: "o-1",
  customer: { customerId: "c", name: "n", email: "a@example.org" },
  address: { name: "n", street: "s", city: "c", country: "SE" },
  lines: [{ sku: "s", quantity: 1, unitPrice: 2 }],
  total: 2,
  currency: "EUR",
  payment: { method: "card", token: "t" },
  placedAt: "2026-12-01T10:00:00Z",
};
await publishTo.orderPlaced(order, { delayMs: 10 });
await publishTo.orderPlaced.many([order]);
const sum = await publishTo.orderPlaced.collect(async (put) => { put(order); return 1; });
sure<Equal<typeof sum, number>>();

// @ts-expect-error a property is missing
await publishTo.orderPlaced({ orderId: "o-1" });
// @ts-expect-error a wrong type
await publishTo.orderPlaced({ ...order, total: "2" });
// @ts-expect-error a misspelt property
await publishTo.orderPlaced({ ...order, nota: "x" });
// @ts-expect-error a value that the enum does not list
await publishTo.orderPlaced({ ...order, currency: "SEK" });
// @ts-expect-error a property of the other branch
await publishTo.orderPlaced({ ...order, payment: { method: "invoice", token: "t" } });
// @ts-expect-error no such queue
await publishTo.orderPlased(order);

onOrderPlaced(async (messages, context) => {
  sure<Equal<typeof messages, readonly OrderPlaced[]>>();
  sure<Equal<typeof context.attempt, number>>();
  for (const message of messages) {
    if (message.payment?.method === "card") message.payment.token.toUpperCase();
    // @ts-expect-error only a card has a token
    message.payment?.token;
  }
});
mq.onOrderPlaced.each(async (message) => { sure<Equal<typeof message, OrderPlaced>>(); });

declare const something: unknown;
if (isOrderPlaced(something)) sure<Equal<typeof something, OrderPlaced>>();

const client = createClient({ pollMs: 1_000 });
client.onEmailSend(async (messages) => { sure<Equal<typeof messages, readonly EmailSend[]>>(); }, { concurrency: 2 });
await client.start();
await client.stop({ timeoutMs: 1 });

type Deep<T, D extends number[] = []> = D["length"] extends 5 ? false : IsAny<T> extends true ? true
  : T extends object ? true extends { [K in keyof T]-?: Deep<T[K], [...D, 0]> }[keyof T] ? true : false : false;
sure<Equal<Deep<Omit<OrderPlaced, "lines">>, false>>();
sure<Equal<IsAny<typeof publishTo>, false>>();
`;

describe("the generated client's types", () => {
  const settings: readonly [name: string, options: TypeScript.CompilerOptions][] = [
    ["nodenext", {}],
    ["bundler", { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
    [
      "exact optional properties, unchecked index access",
      { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ],
  ];
  for (const [name, options] of settings) {
    it(name, () => {
      const errors = typeErrors(new Map([[file, userCode]]), {
        customConditions: ["postrider-source"],
        types: ["node"],
        skipLibCheck: true,
        target: ts.ScriptTarget.ES2022,
        lib: ["lib.es2023.d.ts"],
        allowImportingTsExtensions: false,
        ...options,
      });
      const told = [...errors]
        .filter(([path]) => !path.includes("/src/"))
        .flatMap(([path, list]) => list.map(({ line, text }) => `${path}:${line + 1} ${text}`));
      assert.deepEqual(told, []);
    });
  }
});
