/**
 * The real client on the real database. Its class is made from the runtime, as generated code does: `prisma generate` would
 * fetch a binary, and a schema without models generates nothing else than this.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { PrismaPg } from "@prisma/adapter-pg";
import { type GetPrismaClientConfig, getPrismaClient } from "@prisma/client/runtime/client";
import { fromPrisma, type PrismaTransaction } from "postrider";
import { executorSuite } from "../../../src/testing/executor-suite.js";
import { testDatabase } from "../../support/database.js";

// Prisma declares no types for these two modules, and Node's own types leave WebAssembly to the browser's.
const compiler = "@prisma/client/runtime/query_compiler_fast_bg.postgresql";
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (bytes: Uint8Array) => object };
};

const config: GetPrismaClientConfig = {
  previewFeatures: [],
  clientVersion: "7.10.0",
  engineVersion: "none",
  activeProvider: "postgresql",
  inlineSchema:
    'generator client {\n  provider = "prisma-client"\n}\n\ndatasource db {\n  provider = "postgresql"\n}\n',
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  parameterizationSchema: { strings: [], graph: "AAAA" },
  compilerWasm: {
    getRuntime: () => import(`${compiler}.mjs`),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = await import(`${compiler}.wasm-base64.mjs`);
      return new webAssembly.Module(Buffer.from(wasm, "base64"));
    },
    importName: "./query_compiler_fast_bg.js",
  },
};

const { connectionString } = await testDatabase();
const PrismaClient = getPrismaClient(config);
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 2 }) });

const checks = executorSuite({
  connectionString,
  transaction: async (body) =>
    void (await prisma.$transaction(async (tx: PrismaTransaction) => await body(fromPrisma(tx)))),
});
test("T6, J1 to J3: Prisma", async (t) => {
  for (const { name, run } of checks) await t.test(name, run);
});

test("T6: the client instead of its transaction is refused", () => {
  assert.throws(() => fromPrisma(prisma), { code: "ERR_PUBLISH_OPTIONS" });
});

// A test and not a hook: hooks run in order of registration, and the database's own, which looks for leaks, was the first.
test("the connections close", async () => void (await prisma.$disconnect()));
