/** Names in code: the table of the specification, and every way to collide. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { schemasFromTexts } from "../../codegen/load.js";
import { buildModel } from "../../codegen/model.js";
import { camelName, pascalName, typeNameOf, verbSuffix } from "../../codegen/names.js";
import { idSchema } from "./project.js";

const spelling: readonly [name: string, identifier: string, on: string, type: string][] = [
  ["search-reindex", "searchReindex", "onSearchReindex", "SearchReindex"],
  ["user.created", "userCreated", "onUserCreated", "UserCreated"],
  ["2fa-enabled", "_2faEnabled", "on2faEnabled", "_2faEnabled"],
  ["class", "class", "onClass", "Class"],
  ["default", "default", "onDefault", "Default"],
  ["e\u0301moji", "émoji", "onÉmoji", "Émoji"],
  ["注文-作成", "注文作成", "on注文作成", "注文作成"],
  ["http2-server", "http2Server", "onHttp2Server", "Http2Server"],
  ["order.v2.created", "orderV2Created", "onOrderV2Created", "OrderV2Created"],
  ["HTTPServer.error", "httpServerError", "onHttpServerError", "HttpServerError"],
  ["publish-to", "publishTo", "onPublishTo", "PublishTo"],
  ["on-created", "onCreated", "onOnCreated", "OnCreated"],
];

describe("names in code", () => {
  for (const [name, identifier, on, type] of spelling) {
    it(`${name} -> ${identifier}`, () => {
      assert.equal(camelName(name), identifier);
      assert.equal(typeNameOf(camelName(name)), type);
      assert.equal(`on${verbSuffix(typeNameOf(camelName(name)))}`, on);
    });
  }

  it("knows no locale", () => {
    assert.equal(pascalName("istanbul"), "Istanbul");
    assert.equal(camelName("ISTANBUL"), "istanbul");
  });
});

describe("refused names", () => {
  const refusals: readonly [what: string, files: readonly string[], rule: string][] = [
    ["one identifier from three names", ["a_b.json", "a-b.json", "a.b.json"], "name-collision"],
    ["a number is no word border", ["foo-1.json", "foo1.json"], "name-collision"],
    ["a folder and a dot", ["user/created.json", "user.created.json"], "name-collision"],
    ["then", ["then.json"], "name-reserved"],
    ["an inherited name", ["constructor.json"], "name-reserved"],
    ["a member of the client", ["mq.json", "client.json"], "name-reserved"],
    ["a type of the client", ["publish-to.json"], "name-reserved"],
    ["upper case", ["userCreated.json"], "name-charset"],
    ["other letters", ["émoji.json"], "name-charset"],
    ["no letter", ["--.json"], "name-charset"],
    ["a Windows device", ["con.json"], "name-file"],
    ["an index", ["index.json"], "name-file"],
    ["more than 64 bytes", [`${"a".repeat(65)}.json`], "name-length"],
    ["onX of one is onY of another", ["2fa.json", "_x.json"], "name-digit"],
  ];
  for (const [what, files, rule] of refusals) {
    it(`${what}: ${files.join(", ").slice(0, 60)} -> ${rule}`, () => {
      const { problems } = buildModel(
        schemasFromTexts(new Map(files.map((path) => [path, JSON.stringify(idSchema)])), "schemas"),
      );
      assert.ok(problems.length > 0 && problems.every((problem) => problem.rule === rule), JSON.stringify(problems));
      if (rule === "name-collision") assert.match(problems[0]?.also ?? "", /^schemas\//);
    });
  }

  it("a former name of one queue is no name of another", () => {
    const texts = new Map([
      ["a.json", JSON.stringify({ ...idSchema, "x-queue": { aliases: ["b"] } })],
      ["b.json", JSON.stringify(idSchema)],
    ]);
    const { problems } = buildModel(schemasFromTexts(texts, "schemas"));
    assert.deepEqual(
      problems.map(({ rule, also }) => [rule, also]),
      [["name-collision", "schemas/a.json"]],
    );
  });

  it("x-queue.identifier is the way out, x-queue.name any text", () => {
    const schema = { ...idSchema, "x-queue": { identifier: "aUnderscoreB", name: "Ä b/😀" } };
    const texts = new Map([
      ["a_b.json", JSON.stringify(schema)],
      ["a-b.json", JSON.stringify(idSchema)],
    ]);
    const { problems, queues } = buildModel(schemasFromTexts(texts, "schemas"));
    assert.deepEqual(problems, []);
    assert.deepEqual(
      queues.map(({ name, identifier }) => [name, identifier]),
      [
        ["a-b", "aB"],
        ["Ä b/😀", "aUnderscoreB"],
      ],
    );
  });
});
