/** Error texts: the place, what was expected, what was found, and never a redacted value. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { queues } from "../../generated/queues.js";
import { explain } from "../../src/queue/explain.js";

const order = {
  orderId: "o-1",
  customer: { customerId: "c-1", name: "Åsa", email: "asa@example.org" },
  address: { name: "Åsa", street: "Storgatan 1", city: "Umeå", country: "SE" },
  lines: [{ sku: "s-1", quantity: 1, unitPrice: 2 }],
  total: 2,
  currency: "EUR",
  placedAt: "2026-12-01T10:00:00Z",
};

function explained(name: string, message: unknown) {
  const definition = queues.find((queue) => queue.name === name);
  assert.ok(definition !== undefined);
  assert.equal(definition.validatePublish(message), false);
  return explain(definition, definition.validatePublish.errors ?? [], message);
}

describe("why a message is refused", () => {
  it("names the missing property", () => {
    const { orderId: _, ...rest } = order;
    const { pointer, expected, found } = explained("order-placed", rest);
    assert.deepEqual([pointer, expected, found], ["/orderId", 'the property "orderId"', "nothing"]);
  });

  it("asks whether a misspelt property was meant", () => {
    const { text, didYouMean } = explained("order-placed", { ...order, nota: "x" });
    assert.equal(didYouMean, "note");
    assert.match(text, /^\/nota: expected no such property, found "x"; did you mean "note"\?/);
  });

  it("says the place in the schema, also in a shared file", () => {
    assert.equal(
      explained("order-placed", { ...order, total: -1 }).source,
      "schemas/order-placed.json#/properties/total",
    );
    const address = { ...order.address, city: "" };
    assert.equal(explained("order-placed", { ...order, address }).source, "_shared/address.json#/properties/city");
    const lines = [{ sku: "s-1", quantity: 0, unitPrice: 2 }];
    const { pointer, expected, source } = explained("order-placed", { ...order, lines });
    assert.deepEqual([pointer, expected], ["/lines/0/quantity", "a number >= 1"]);
    assert.equal(source, "schemas/order-placed.json#/$defs/line/properties/quantity");
  });

  it("lists allowed values and the nearest of them", () => {
    const { expected, didYouMean } = explained("order-placed", { ...order, currency: "EUD" });
    assert.equal(expected, 'one of "EUR", "USD", "GBP", "CHF"');
    assert.equal(didYouMean, "EUR");
  });

  it("speaks only of the branch that was meant", () => {
    const card = explained("order-placed", { ...order, payment: { method: "card" } });
    assert.deepEqual([card.pointer, card.expected], ["/payment/token", 'the property "token"']);
    const invoice = explained("order-placed", { ...order, payment: { method: "invoice", dueDays: 900 } });
    assert.deepEqual([invoice.pointer, invoice.expected], ["/payment/dueDays", "a number <= 90"]);
    const extra = explained("order-placed", { ...order, payment: { method: "invoice", token: "tok_secret" } });
    assert.deepEqual(
      [extra.pointer, extra.expected, extra.found],
      ["/payment/token", "no such property", "(redacted)"],
    );
    const unknown = explained("order-placed", { ...order, payment: { method: "cart" } });
    assert.deepEqual(
      [unknown.pointer, unknown.expected, unknown.didYouMean],
      ["/payment/method", 'one of "card", "invoice"', "card"],
    );
  });

  it("never shows a redacted value, nor an object around one", () => {
    const secret = "tok_4242424242424242";
    const messages = [
      { ...order, payment: { method: "card", token: { secret } } },
      { ...order, payment: { method: "card", token: secret.repeat(20) } },
    ];
    for (const message of messages) {
      assert.ok(!JSON.stringify(explained("order-placed", message)).includes(secret), JSON.stringify(message));
    }
    const email = explained("email-send", {
      to: { customerId: "c", name: "n", email: secret },
      template: "newsletter",
    });
    assert.deepEqual([email.pointer, email.found], ["/to/email", "(redacted)"]);
  });

  it("shortens what it shows", () => {
    assert.ok(explained("order-placed", { ...order, orderId: "x".repeat(5_000) }).text.length < 400);
  });
});
