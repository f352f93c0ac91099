/** A client's metrics over HTTP, for Prometheus to scrape. */
import type { RequestListener } from "node:http";

const prometheusText = "text/plain; version=0.0.4; charset=utf-8";
const openMetricsText = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/**
 * A request listener that answers every GET and HEAD with the client's metrics, whatever the path: give it to
 * `http.createServer`, or mount it where your framework takes Node's listeners. Other methods get 405; metrics that cannot
 * be read, 500, without a reason: that is in the error event of whoever failed.
 */
export function metricsEndpoint(client: { metrics(): Promise<string> }): RequestListener {
  return async (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    try {
      const text = await client.metrics();
      // A registry of the caller's own may be of the other format, which says so in its last line.
      const type = text.endsWith("# EOF\n") ? openMetricsText : prometheusText;
      response.writeHead(200, { "content-type": type, "content-length": Buffer.byteLength(text) });
      response.end(request.method === "HEAD" ? undefined : text);
    } catch {
      response.writeHead(500, { "content-type": "text/plain" }).end("the metrics could not be read\n");
    }
  };
}
