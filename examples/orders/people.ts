/** Customers and their addresses as a shop with customers in many countries has them. */
import type { Random } from "./random.js";

interface Region {
  readonly locale: string;
  readonly country: string;
  readonly currency: "EUR" | "USD" | "GBP" | "CHF";
  readonly names: readonly string[];
  readonly streets: readonly string[];
  readonly places: readonly (readonly [postalCode: string, city: string])[];
}

/** A customer, with what an order needs of them. */
export interface Customer {
  readonly contact: {
    readonly customerId: string;
    readonly name: string;
    readonly email: string;
    readonly locale: string;
  };
  readonly address: {
    readonly name: string;
    readonly street: string;
    readonly postalCode: string;
    readonly city: string;
    readonly country: string;
  };
  readonly currency: Region["currency"];
}

// "Zoë" and "Nguyễn" stand here twice, composed and decomposed: they must come out as they went in, not normalised.
const regions: readonly Region[] = [
  {
    locale: "de-AT",
    country: "AT",
    currency: "EUR",
    names: ["Jörg Weiß", "Käthe Großschädl", "Anna-Lena Öllinger", "Dr. Günther Müller-Lüdenscheidt"],
    streets: ["Mariahilfer Straße 12", "Lange Gasse 4/2/17", "Hauptplatz 1"],
    places: [
      ["1070", "Wien"],
      ["8010", "Graz"],
      ["5020", "Salzburg"],
    ],
  },
  {
    locale: "en-GB",
    country: "GB",
    currency: "GBP",
    names: ["Siobhán O’Connor", "William “Bill” Ashby-Cooper", "Zoë Smith", "Zoe\u0308 Smith", "J. R. R. d'Arcy"],
    streets: ["Flat 3, 27b King's Road", "The Old Mill, Church Lane", "221B Baker Street"],
    places: [
      ["SW3 4LX", "London"],
      ["EH1 1YZ", "Edinburgh"],
      ["CF10 3AT", "Caerdydd / Cardiff"],
    ],
  },
  {
    locale: "en-US",
    country: "US",
    currency: "USD",
    names: [
      "José Ñíguez",
      "Tyrese Washington",
      "Ava Nguyễn",
      "Ava Nguye\u0302\u0303n",
      "Robert'); DROP TABLE orders;--",
    ],
    streets: ["1600 Pennsylvania Ave NW", "350 Fifth Avenue, Ste 4100", '12 "The Ranch" Rd'],
    places: [
      ["20500", "Washington"],
      ["10118", "New York"],
      ["94105", "San Francisco"],
    ],
  },
  {
    locale: "ja-JP",
    country: "JP",
    currency: "USD",
    names: ["山田 太郎", "佐藤 花子", "𠮷野 家康", "渡邉 さくら"],
    streets: ["千代田区千代田1-1", "中京区烏丸通御池上る", "北区大通西5丁目ビル３Ｆ"],
    places: [
      ["100-0001", "東京"],
      ["604-8171", "京都市"],
      ["060-0042", "札幌市"],
    ],
  },
  {
    locale: "zh-CN",
    country: "CN",
    currency: "USD",
    names: ["王小明", "李娜", "欧阳修远", "𪚥龘"],
    streets: ["朝阳区建国路93号院", "浦东新区世纪大道100号", "天河区体育西路103号"],
    places: [
      ["100022", "北京"],
      ["200120", "上海"],
      ["510620", "广州"],
    ],
  },
  {
    locale: "ar-AE",
    country: "AE",
    currency: "EUR",
    names: ["فاطمة الزهراء", "محمد بن راشد", "نُور الدِّين عبد الله", "ليلى \u200fحسن"],
    streets: ["شارع الشيخ زايد، برج ١٢", "حي الكرامة ٧", "طريق الكورنيش ٤٤"],
    places: [
      ["00000", "دبي"],
      ["00000", "أبو ظبي"],
    ],
  },
  {
    locale: "hi-IN",
    country: "IN",
    currency: "USD",
    names: ["प्रिया शर्मा", "राजेश कुमार", "ஐஸ்வர்யா சுப்ரமணியம்"],
    streets: ["१२, महात्मा गांधी मार्ग", "Plot 7, 2nd Cross, Indiranagar"],
    places: [
      ["110001", "नई दिल्ली"],
      ["560038", "Bengaluru"],
    ],
  },
  {
    locale: "fr-CH",
    country: "CH",
    currency: "CHF",
    names: ["Noémie Lœuvre", "François-Xavier d’Août", "Ilse Überschär"],
    streets: ["Rue du Rhône 8", "Chemin des Crêts-de-Champel 2bis"],
    places: [
      ["1204", "Genève"],
      ["1003", "Lausanne"],
    ],
  },
  {
    locale: "he-IL",
    country: "IL",
    currency: "EUR",
    names: ["נועה לוי", "יִצְחָק כהן"],
    streets: ["שדרות רוטשילד 45"],
    places: [["6688312", "תל אביב־יפו"]],
  },
  {
    locale: "pt-BR",
    country: "BR",
    currency: "USD",
    names: ["João 🚀 Gonçalves", "Mãe & Filhas 👩‍👩‍👧‍👦 Ltda.", "Íris 💐"],
    streets: ["Av. Paulista, 1578 – 4º andar", "R. São João 9 🏠"],
    places: [
      ["01310-200", "São Paulo"],
      ["40020-000", "Salvador"],
    ],
  },
];

export function makeCustomers(random: Random, count: number): readonly Customer[] {
  return Array.from({ length: count }, (_, index) => {
    const region = random.pick(regions);
    const name = random.pick(region.names);
    const [postalCode, city] = random.pick(region.places);
    const customerId = `c-${String(10_000 + index)}`;
    return {
      contact: { customerId, name, email: `${customerId}@example.com`, locale: region.locale },
      address: { name, street: random.pick(region.streets), postalCode, city, country: region.country },
      currency: region.currency,
    };
  });
}
