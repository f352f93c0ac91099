/**
 * Issue 3, point 5: what is generated, and the package's own declarations, compile under every TypeScript that users have,
 * with and without `skipLibCheck`, where nothing of pg's types is installed.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { emit } from "../../codegen/emit.js";
import { type LoadedSchemas, schemasFromTexts } from "../../codegen/load.js";
import { cases, loadCase } from "./case-files.js";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const compilers = { "5.4": "typescript-5.4", "5.9": "typescript-5.9", "6.0": "typescript", "7.0": "typescript-7" };
const modules = { nodenext: "nodenext", bundler: "esnext" };

const directory = await mkdtemp(join(tmpdir(), "postrider-compilers-"));
after(() => rm(directory, { recursive: true }));

const shop = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  description: "An order.",
  type: "object",
  properties: { orderId: { type: "string" }, lines: { type: "array", items: { $ref: "_line.json" } } },
  required: ["orderId"],
};
const line = { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] };
const user = `
import { PostgresBackend, PostriderError } from "postrider";
import { startEmbeddedPostgres } from "postrider/embedded";
import { createClient, isOrderPlaced, onOrderPlaced, type OrderPlaced, publishTo } from "./shop/index.js";

const mq = createClient({ backend: new PostgresBackend({ connectionString: "postgres://localhost/shop" }) });
export const value: unknown = null;
export const server: Promise<{ connectionString: string }> = startEmbeddedPostgres();
if (isOrderPlaced(value)) void publishTo.orderPlaced(value satisfies OrderPlaced);
onOrderPlaced.each(async (message, ctx) => {
  const sku: string | undefined = message.lines?.[0]?.sku;
  if (sku === undefined) throw new PostriderError("ERR_NO_DATABASE", ctx.queue);
});
// @ts-expect-error a number is no order id
void mq.publishTo.orderPlaced({ orderId: 1 });
// @ts-expect-error messages are not any
onOrderPlaced(async (messages) => void messages[0]?.nothing);
`;

before(async () => {
  await run("typescript", "--project", join(repository, "tsconfig.build.json"), [
    ...["--emitDeclarationOnly", "--declarationMap", "false", "--sourceMap", "false"],
    ...["--outDir", join(directory, "node_modules/postrider/dist")],
  ]);
  await copyFile(join(repository, "package.json"), join(directory, "node_modules/postrider/package.json"));
  await mkdir(join(directory, "node_modules/@types"));
  for (const name of ["@types/node", "undici-types", "ajv", "ajv-formats", "prom-client"]) {
    await symlink(join(repository, "node_modules", name), join(directory, "node_modules", name));
  }
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
  const texts = new Map(Object.entries({ "order-placed.json": shop, "_line.json": line }));
  await write(
    "shop",
    schemasFromTexts(new Map([...texts].map(([path, schema]) => [path, JSON.stringify(schema)])), ""),
  );
  for (const example of cases.filter(({ outcome }) => outcome === "agrees")) {
    await write(`cases/${example.id}`, loadCase(example));
  }
  await writeFile(join(directory, "user.ts"), user);
});

async function write(folder: string, loaded: LoadedSchemas): Promise<void> {
  const { files } = await emit(loaded, { display: "schemas", schemasFromOut: "../schemas" });
  for (const [path, text] of files) {
    const target = join(directory, folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

async function run(compiler: string, ...args: readonly (string | readonly string[])[]): Promise<string> {
  const tsc = join(repository, "node_modules", compiler, "bin/tsc");
  return await new Promise((resolve) => {
    execFile(process.execPath, [tsc, ...args.flat()], { cwd: directory }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

describe("generated declarations compile", () => {
  for (const [version, compiler] of Object.entries(compilers)) {
    for (const [moduleResolution, module] of Object.entries(modules)) {
      for (const skipLibCheck of [false, true]) {
        const name = `${version}-${moduleResolution}-${skipLibCheck ? "skip" : "all"}`;
        it(`under TypeScript ${version}, ${moduleResolution}, ${skipLibCheck ? "with" : "without"} skipLibCheck`, async () => {
          const compilerOptions = {
            ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
            ...{ target: "es2022", lib: ["es2022"], types: ["node"], module, moduleResolution, skipLibCheck },
          };
          const config = JSON.stringify({ compilerOptions, include: ["user.ts", "cases/*/index.d.ts"] });
          await writeFile(join(directory, `${name}.json`), config);
          assert.equal(await run(compiler, "--project", `${name}.json`), "");
        });
      }
    }
  }
});
