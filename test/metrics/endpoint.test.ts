/** The Prometheus endpoint, asked over HTTP as a scraper does. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { type TestContext } from "node:test";
import { metricsEndpoint } from "../../src/metrics/endpoint.js";
import { testClient } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";

async function serve(t: TestContext, client: Parameters<typeof metricsEndpoint>[0]): Promise<string> {
  const server = createServer(metricsEndpoint(client)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
}

test("M2 a scrape gets the metrics in Prometheus' text format", async (t) => {
  const mq = testClient(t, { backend: "memory", queues: [testQueue("q")] });
  await mq.queue("q").publish({ n: 1 });
  const address = await serve(t, mq);
  const response = await fetch(address);
  const text = await response.text();
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.match(text, /^postrider_messages_published_total\{queue="q"\} 1$/m);
  assert.match(text, /^# TYPE postrider_delivery_latency_seconds histogram$/m);
  const head = await fetch(address, { method: "HEAD" });
  assert.deepEqual([head.status, Number(head.headers.get("content-length")) > 0, await head.text()], [200, true, ""]);
});

test("the endpoint refuses other methods, and tells nobody why metrics could not be read", async (t) => {
  const address = await serve(t, { metrics: () => Promise.reject(new Error("a secret")) });
  const refused = await fetch(address, { method: "POST", body: "x" });
  assert.deepEqual([refused.status, refused.headers.get("allow")], [405, "GET, HEAD"]);
  const failed = await fetch(address);
  assert.equal(failed.status, 500);
  assert.doesNotMatch(await failed.text(), /secret/);
});
