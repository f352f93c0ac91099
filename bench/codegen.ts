/**
 * Codegen's speed and size: 100 and 1,000 queues, cold and unchanged, each in a process of its own, and the time that one
 * validation takes. Prints one JSON object.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const repository = fileURLToPath(new URL("..", import.meta.url));

const address = {
  description: "A postal address.",
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 200 },
    street: { type: "string", minLength: 1, maxLength: 200 },
    city: { type: "string", minLength: 1 },
    country: { type: "string", pattern: "^[A-Z]{2}$" },
  },
  required: ["street", "city", "country"],
  additionalProperties: false,
};

const place = { name: "Åsa Ström", street: "Storgatan 1", city: "Umeå", country: "SE" };
const message = {
  orderId: "123e4567-e89b-42d3-a456-426614174000",
  placedAt: "2026-12-01T10:00:00Z",
  email: "asa@example.org",
  total: 129.5,
  currency: "EUR",
  note: "Please leave the parcel with the neighbour if nobody opens. ".repeat(4),
  shipTo: place,
  billTo: place,
  lines: Array.from({ length: 8 }, (_, index) => ({ sku: `sku-${index}-abc`, quantity: index + 1 })),
  tags: { source: "web", campaign: "winter" },
};

await bench();

async function bench(): Promise<void> {
  const installed = await buildPackage();
  const results: Record<string, unknown> = {};
  for (const count of [100, 1_000]) {
    const project = await projectOf(count, installed);
    results[`queues${count}`] = { cold: run(project, installed), unchanged: run(project, installed) };
    if (count === 100) results.validationUs = validationUs(project);
    await rm(project, { recursive: true, force: true });
  }
  await rm(installed, { recursive: true, force: true });
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
}

async function projectOf(count: number, installed: string): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), "postrider-bench-"));
  await mkdir(join(project, "schemas/_shared"), { recursive: true });
  await writeFile(join(project, "schemas/_shared/address.json"), JSON.stringify(address));
  for (let index = 0; index < count; index += 1) {
    await writeFile(
      join(project, `schemas/order-placed-${"abcdefghij"[index % 10]}${index}.json`),
      JSON.stringify(order(index)),
    );
  }
  // The generated validators import "postrider": the project has it installed, so to say.
  await mkdir(join(project, "node_modules"));
  await symlink(installed, join(project, "node_modules/postrider"));
  await writeFile(join(project, "package.json"), '{"type":"module"}');
  return project;
}

// The package as it is published: compiled, without a loader for TypeScript.
async function buildPackage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postrider-package-"));
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
  await copyFile(join(repository, "package.json"), join(folder, "package.json"));
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  const built = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", join(folder, "dist")], {
    cwd: repository,
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(built.stdout);
  return folder;
}

function run(cwd: string, installed: string): { ms: number; cpuMs: number; peakMiB: number } {
  const script = `process.on("exit", () => { const u = process.resourceUsage(); process.stderr.write("used " + u.maxRSS + " " + (u.userCPUTime + u.systemCPUTime) + "\\n"); }); await import(${JSON.stringify(pathToFileURL(join(installed, "dist/src/cli/main.js")).href)});`;
  const started = performance.now();
  const entry = join(cwd, "run.mjs");
  writeFileSync(entry, script);
  const done = spawnSync(process.execPath, [entry, "codegen"], { cwd, encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr || done.stdout);
  const [, rss = 0, cpu = 0] = (/used (\d+) (\d+)/.exec(done.stderr) ?? []).map(Number);
  const ms = Math.round(performance.now() - started);
  return { ms, cpuMs: Math.round(cpu / 1_000), peakMiB: Math.round(rss / 1_024) };
}

function validationUs(project: string): { publish: number; deliver: number; bytes: number } {
  const text = JSON.stringify(message);
  const script = `
import { deliver, publish } from "./generated/validators/order-placed-a0.js";
const message = ${text};
const time = (validate) => {
  if (!validate(message)) throw new Error("the bench's message is not valid");
  for (let index = 0; index < 50_000; index += 1) validate(message);
  const started = performance.now();
  for (let index = 0; index < 200_000; index += 1) validate(message);
  return Number(((performance.now() - started) / 200).toFixed(2));
};
process.stdout.write(JSON.stringify({ publish: time(publish), deliver: time(deliver) }));
`;
  writeFileSync(join(project, "validate.mjs"), script);
  const done = spawnSync(process.execPath, ["validate.mjs"], { cwd: project, encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
  return { ...(JSON.parse(done.stdout) as { publish: number; deliver: number }), bytes: Buffer.byteLength(text) };
}

function order(index: number): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    description: `Order number ${index} was placed.`,
    type: "object",
    properties: {
      orderId: { type: "string", format: "uuid", description: "Public id." },
      placedAt: { type: "string", format: "date-time" },
      email: { type: "string", format: "email", maxLength: 320 },
      total: { type: "number", minimum: 0 },
      currency: { enum: ["EUR", "USD", "GBP"] },
      note: { type: ["string", "null"], maxLength: 2_000 },
      shipTo: { $ref: "_shared/address.json", description: "Where it goes." },
      billTo: { $ref: "_shared/address.json" },
      lines: { type: "array", items: { $ref: "#/$defs/line" } },
      tags: { type: "object", additionalProperties: { type: "string" } },
    },
    required: ["orderId", "placedAt", "total", "currency", "lines"],
    additionalProperties: false,
    $defs: {
      line: {
        type: "object",
        properties: { sku: { type: "string", pattern: "^[a-z0-9-]+$" }, quantity: { type: "integer", minimum: 1 } },
        required: ["sku", "quantity"],
        additionalProperties: false,
      },
    },
    "x-queue": { maxBatchMessages: 50 },
  };
}
