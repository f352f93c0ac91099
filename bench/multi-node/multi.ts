/** `npm run bench:multi -- start N | go | stop | logs`: N nodes as processes against one database. */
import { spawn } from "node:child_process";
import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Table from "cli-table3";
import { Command } from "commander";
import type pg from "pg";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";
import { positive, range } from "../option-values.js";
import { rounded } from "../rounded.js";
import { systemNamed } from "../systems/catalogue.js";
import { dropMeeting, giveSignal, meetingUrl, type NodeRow, nodesOf, prepareMeeting, withClient } from "./meeting.js";
import { embeddedDirectory, logFolder, type NodeSettings } from "./node-settings.js";

const readyMs = 60_000;

async function start(countText: string, settings: NodeSettings): Promise<void> {
  const count = positive(countText);
  systemNamed(settings.system);
  await withServer(async (serverUrl) => {
    await prepareMeeting(serverUrl);
    await rm(logFolder, { recursive: true, force: true });
    await mkdir(logFolder, { recursive: true });
    for (let number = 1; number <= count; number += 1) await spawnNode(`node-${number}`, settings);
    await withClient(meetingUrl(serverUrl), (client) =>
      untilNodes(client, `${count} nodes to be ready`, readyMs, (nodes) => nodes.length === count),
    );
  });
  process.stdout.write(`${count} nodes of ${settings.system} wait for: npm run bench:multi -- go\n`);
}

async function spawnNode(name: string, settings: NodeSettings): Promise<void> {
  const log = await open(join(logFolder, `${name}.log`), "a");
  const file = join(import.meta.dirname, "node.ts");
  const child = spawn(process.execPath, [...process.execArgv, file, name, JSON.stringify(settings)], {
    cwd: join(import.meta.dirname, "..", ".."),
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  child.unref();
  await log.close();
}

async function go({ callers, seconds }: { callers: number; seconds: number }): Promise<void> {
  await withMeeting(async (client) => {
    const id = await giveSignal(client, { callers, ms: seconds * 1_000 });
    const limitMs = seconds * 1_000 + 120_000;
    const nodes = await untilNodes(client, "every node to report", limitMs, (all) =>
      all.every(({ answered }) => answered === id),
    );
    process.stdout.write(`${tableOf(nodes)}\n`);
  });
}

function tableOf(nodes: readonly NodeRow[]): string {
  const table = new Table({
    head: ["", "published/s", "handled", "handled/s", "p50, ms", "p99, ms"],
    style: { head: [], border: [], compact: true },
  });
  const results = nodes.flatMap(({ result }) => (result === null ? [] : [result]));
  for (const { name, result } of nodes) {
    if (result === null) continue;
    const { publishedPerSecond, handled, handledPerSecond, p50Ms, p99Ms } = result;
    table.push([name, ...[publishedPerSecond, handled, handledPerSecond, p50Ms, p99Ms].map(rounded)]);
  }
  const sum = (of: (result: (typeof results)[number]) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const handled = sum((result) => result.handled);
  const different = new Set(results.flatMap(({ orderIds = [] }) => orderIds)).size;
  table.push([
    `all ${nodes.length}`,
    rounded(sum((result) => result.publishedPerSecond)),
    rounded(handled),
    rounded(sum((result) => result.handledPerSecond)),
    "",
    rounded(Math.max(...results.map(({ p99Ms }) => p99Ms))),
  ]);
  const imbalance = (Math.max(...results.map((result) => result.handled)) * results.length) / handled;
  return `${table.toString()}\nhandled more than once: ${handled - different}; busiest node: ${rounded(imbalance)} of an even share`;
}

async function stop(): Promise<void> {
  await withServer(async (serverUrl) => {
    await withClient(meetingUrl(serverUrl), async (client) => {
      await giveSignal(client, undefined);
      await untilNodes(client, "the nodes to stop", 60_000, (nodes) => nodes.length === 0);
    });
    await dropMeeting(serverUrl);
  });
  process.stdout.write("all nodes have stopped\n");
}

async function logs(): Promise<void> {
  const files = await readdir(logFolder).catch(() => []);
  if (files.length === 0) throw new Error("no logs: start nodes first");
  for (const file of files.sort()) process.stdout.write(await readFile(join(logFolder, file), "utf8"));
}

/** Looks until the nodes are as wanted. */
async function untilNodes(
  client: pg.Client,
  what: string,
  limitMs: number,
  wanted: (nodes: readonly NodeRow[]) => boolean,
): Promise<readonly NodeRow[]> {
  for (const endsAt = performance.now() + limitMs; ; await sleep(100)) {
    const nodes = await nodesOf(client);
    if (wanted(nodes)) return nodes;
    if (performance.now() < endsAt) continue;
    const states = nodes.map(({ name, pid, answered }) => `${name} (pid ${pid}, answered ${answered})`);
    throw new Error(
      `waited ${limitMs} ms for ${what}; there are ${states.join(", ") || "none"}; see: npm run bench:multi -- logs`,
    );
  }
}

async function withMeeting(body: (client: pg.Client) => Promise<void>): Promise<void> {
  await withServer((serverUrl) => withClient(meetingUrl(serverUrl), body));
}

async function withServer(body: (serverUrl: string) => Promise<void>): Promise<void> {
  const server = await startEmbeddedPostgres({ directory: embeddedDirectory });
  try {
    await body(server.connectionString);
  } finally {
    await server.stop();
  }
}

const program = new Command("bench:multi").description(
  "Nodes as processes of this machine against one database, the embedded PostgreSQL or the one of DATABASE_URL. Each publishes and handles.",
);
program
  .command("start")
  .argument("<N>", "how many nodes")
  .option("--system <name>", "postrider, plain-rows, plain-hundreds or an installed peer", "postrider")
  .option("--queues <n>", "queues they share", positive, 1)
  .option("--rtt <min-max>", "simulated network: ms added to each round trip of a node to the database", range)
  .action(start);
program
  .command("go")
  .description("Every node starts at the same moment; waits, and shows one table. May be repeated.")
  .option("--callers <n>", "publishing callers of each node", positive, 8)
  .option("--seconds <n>", "how long they publish", positive, 5)
  .action(go);
program.command("stop").action(stop);
program.command("logs").action(logs);
await program.parseAsync();
