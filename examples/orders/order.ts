/** Orders, and what a shop sends after them: confirmations and search entries that are out of date. */
import type { Customer } from "./people.js";
import type { Random } from "./random.js";

/** One line of the example file. */
export interface Line {
  readonly queue: string;
  readonly message: unknown;
}

const articles = [
  ["MUG-BLU-01", "Becher „Meer“, blau, 0,3 l"],
  ["TEA-SEN-100", "煎茶 100g"],
  ["SCARF-WOL", "Écharpe en laine mérinos"],
  ["LAMP-042", "Lámpara de mesa «Niña»"],
  ["BOOK-978-3", "Wörterbuch Deutsch–Čeština, 3. Auflage"],
  ["GIFT-🎁", "Surprise 🎁 box (S/M/L)"],
  ["CAB-USB-C-2M", "USB-C cable, 2 m, 100 W"],
  ["قهوة-250", "قهوة عربية بالهيل ٢٥٠ غ"],
] as const;

const remarks = [
  "Please ring twice.",
  "Bitte beim Nachbarn (Hr. Šimůnek) abgeben, danke!",
  "留守の場合は宅配ボックスへお願いします。",
  "الرجاء الاتصال قبل التوصيل",
  'Leave it behind the "blue" bin\\gate\nSecond line.\tTabbed.',
  "Happy birthday!!! 🎂🎉 — love, Mum & Dad 👨‍👩‍👧",
  "Z̸̢͝a̵̡͠l̴̨̛g̷̛͜o was here",
  "Do not shake; <b>fragile</b> &amp; \u0000 odd \u2028 bytes",
];

// What a customer pastes into the box for remarks: the whole correspondence.
const letter = [
  "Sehr geehrte Damen und Herren, wie telefonisch besprochen liefern Sie bitte NICHT vor dem 14., da wir verreist sind. ",
  "Following up on our earlier e-mails (quoted below), the second parcel should go to my sister's address instead. ",
  "> On Tuesday you wrote: “we will do our best” — thank you, that was very kind. ",
  "配達時間は午前中を希望します。よろしくお願いいたします。",
  "N'oubliez pas la facture à part, s’il vous plaît ; le service comptable la réclame depuis août. ",
];

export function makeOrder(random: Random, number: number, customer: Customer): Record<string, unknown> {
  const lines = Array.from({ length: random.between(1, random.chance(0.03) ? 14 : 3) }, () => {
    const [sku, title] = random.pick(articles);
    return { sku, title, quantity: random.between(1, 4), unitPrice: random.between(290, 18_900) / 100 };
  });
  const cents = lines.reduce((sum, { quantity, unitPrice }) => sum + quantity * Math.round(unitPrice * 100), 0);
  const note = makeNote(random);
  return {
    orderId: `o-2026-${String(number).padStart(6, "0")}`,
    customer: customer.contact,
    address: customer.address,
    lines,
    total: cents / 100,
    currency: customer.currency,
    ...(random.chance(0.85) ? { payment: makePayment(random) } : {}),
    ...(note === undefined ? {} : { note }),
    placedAt: timeOf(random, number),
  };
}

/** The mail that follows an order. */
export function makeConfirmation(random: Random, order: Record<string, unknown>, customer: Customer): Line {
  const message = {
    to: customer.contact,
    template: random.chance(0.8) ? "order-confirmation" : "order-shipped",
    variables: {
      orderId: order.orderId,
      total: order.total,
      gift: random.chance(0.1),
      greeting: customer.contact.name,
    },
    ...(random.chance(0.2)
      ? {
          attachments: [
            { fileName: `Rechnung ${order.orderId}.pdf`, url: `https://example.com/i/${order.orderId}.pdf` },
          ],
        }
      : {}),
  };
  return { queue: "email-send", message };
}

/** A search entry that is out of date; the same article comes up again and again. */
export function makeReindex(random: Random, customer: Customer): Line {
  if (random.chance(0.3)) {
    const { customerId } = customer.contact;
    return {
      queue: "search-reindex",
      message: { documentId: customerId, kind: "customer", address: customer.address },
    };
  }
  const [sku] = random.pick(articles);
  const reason = random.pick(["created", "changed", "changed", "deleted"]);
  return { queue: "search-reindex", message: { documentId: sku, kind: "product", reason } };
}

function makeNote(random: Random): string | null | undefined {
  if (random.chance(0.6)) return undefined;
  if (random.chance(0.1)) return null;
  if (random.chance(0.04)) return Array.from({ length: random.between(12, 50) }, () => random.pick(letter)).join("");
  return random.pick(remarks);
}

function makePayment(random: Random): object {
  if (random.chance(0.75)) return { method: "card", token: `tok_${String(random.between(10_000_000, 99_999_999))}` };
  return random.chance(0.5) ? { method: "invoice" } : { method: "invoice", dueDays: random.pick([14, 30, 60]) };
}

// About one order every forty seconds, some with an offset as a till in another country writes it.
function timeOf(random: Random, number: number): string {
  const at = new Date(Date.UTC(2026, 2, 1, 6) + number * 40_000 + random.between(0, 30_000)).toISOString();
  return random.chance(0.2) ? at.replace("Z", "+00:00") : at;
}
