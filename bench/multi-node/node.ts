/** One node of a run: `node.ts <name> <settings as JSON>`. Starts its system, says so, and does as the signals say. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";
import { startProxy } from "../../test/support/proxy.js";
import { queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import { systemNamed } from "../systems/catalogue.js";
import { type SystemProcess, startSystem } from "../systems/system-process.js";
import { meetingUrl, type NodeResult, nextSignal, type Work } from "./meeting.js";
import { embeddedDirectory, type NodeSettings } from "./node-settings.js";

const [name, json] = process.argv.slice(2) as [string, string];
const { system: systemName, queues, rtt } = JSON.parse(json) as NodeSettings;
const say = (text: string) => void process.stdout.write(`${new Date().toISOString()} ${name}: ${text}\n`);

// Keeps the embedded server alive for as long as a node uses it.
const server = await startEmbeddedPostgres({ directory: embeddedDirectory });
const url = meetingUrl(server.connectionString);
const network = rtt && (await startProxy(url, { rtt }));
const system = await startSystem(systemNamed(systemName), {
  connectionString: network?.connectionString ?? url,
  queues: queueNames("multi", queues),
  wake: true,
});
// Preparing is safe when several do it one after another, and not with every system when they do it at once.
const meeting = new pg.Client(url);
await meeting.connect();
await meeting.query("select pg_advisory_lock(7306)");
await system.prepare();
await meeting.query("select pg_advisory_unlock(7306)");
await system.open();
await system.consume();
await meeting.query("insert into bench_node (name, pid) values ($1, $2)", [name, process.pid]);
say("ready");

for (let answered = 0; ; ) {
  const { id, inMs, work } = await nextSignal(meeting, answered);
  answered = id;
  if (work === undefined) break;
  await sleep(inMs);
  say(`signal ${id}: ${work.callers} callers for ${work.ms} ms`);
  const result = await perform(system, work);
  await meeting.query("update bench_node set answered = $2, result = $3 where name = $1", [
    name,
    id,
    JSON.stringify(result),
  ]);
  say(`published ${Math.round(result.publishedPerSecond)}/s, handled ${Math.round(result.handledPerSecond)}/s`);
}
await system.stop();
await meeting.query("delete from bench_node where name = $1", [name]);
await meeting.end();
await network?.stop();
await server.stop();
say("stopped");

async function perform(node: SystemProcess, { callers, ms }: Work): Promise<NodeResult> {
  await node.report();
  const published = await node.publish({ callers, ms, size: 1 });
  // What others published is handled here too; it has arrived when half a second brings nothing new.
  const reports = [await node.report()];
  do {
    await sleep(500);
    reports.push(await node.report());
  } while ((reports.at(-1)?.messages ?? 0) > 0);
  const latencies = reports.flatMap((report) => report.latencies);
  const busy = reports.filter(({ messages }) => messages > 0);
  const spanMs = Math.max(...busy.map(({ lastAt }) => lastAt)) - Math.min(...busy.map(({ firstAt }) => firstAt));
  return {
    publishedPerSecond: (published.messages * 1_000) / published.ms,
    handled: latencies.length,
    handledPerSecond: busy.length === 0 ? 0 : (latencies.length * 1_000) / Math.max(spanMs, 1),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    orderIds: reports.flatMap((report) => report.orderIds),
  };
}
