/** Prometheus metrics, all of them subscribers of the one choke point. Two clients may share a registry. */
import { Counter, Gauge, Histogram, type Metric, type Registry } from "prom-client";
import type { Instrument } from "../instrument.js";

const counters = {
  postrider_poll_results_total: ["Rounds that found work or not.", ["result"]],
  postrider_stale_recoveries_total: ["Batches taken back from lost nodes.", ["queue", "reason"]],
  postrider_batches_handled_total: ["Handler calls, by how they ended.", ["queue", "status"]],
  postrider_dedup_messages_dropped_total: ["Messages dropped as repeats when published.", ["queue"]],
  postrider_messages_published_total: ["Messages stored.", ["queue"]],
  postrider_publish_unknown_total: ["Messages whose write went unanswered and was repeated.", ["queue"]],
  postrider_publish_buffer_flush_errors_total: ["Failed writes of the publish buffer.", ["queue"]],
  postrider_batch_permanent_failures_total: ["Batches given up.", ["queue", "reason"]],
  postrider_batch_retries_total: ["Failed batches that will be delivered again.", ["queue"]],
  postrider_messages_received_total: ["Messages claimed.", ["queue"]],
  postrider_handler_errors_total: ["Handler calls that threw.", ["queue"]],
  postrider_lease_lost_total: ["Batches lost to recovery before they were settled.", ["queue"]],
  postrider_wakeups_total: ["Looks that found work, by why the node looked.", ["source"]],
  postrider_listener_reconnects_total: ["LISTEN sessions lost or not to be had.", []],
} as const;

type CounterName = keyof typeof counters;

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Registers the metrics and subscribes them. */
export function meter(
  instrument: Instrument,
  registry: Registry,
  bufferDepths: () => ReadonlyMap<string, number>,
): void {
  const count = (name: CounterName, labels: Record<string, string> = {}, by = 1) => {
    counterOf(registry, name).inc(labels, by);
  };
  const handleSeconds = histogramOf(registry, "postrider_handle_duration_seconds", "Time in handlers.");
  const latencySeconds = histogramOf(
    registry,
    "postrider_delivery_latency_seconds",
    "From publish to claim, by this node's clock.",
  );
  const listenerUp = gaugeOf(registry, "postrider_listener_up", "1 while notifications are proved to arrive.", []);
  const depth = gaugeOf(registry, "postrider_publish_buffer_depth", "Messages waiting to be written.", ["queue"]);
  // Read when scraped: keeping it up to date would cost every publish.
  (depth as unknown as { collect: () => void }).collect = () => {
    for (const [queue, messages] of bufferDepths()) depth.set({ queue }, messages);
  };

  instrument.on("published", ({ queue, messages }) => count("postrider_messages_published_total", { queue }, messages));
  instrument.on("deduplicated", ({ queue, messages }) =>
    count("postrider_dedup_messages_dropped_total", { queue }, messages),
  );
  instrument.on("publishUnknown", ({ queue, messages }) =>
    count("postrider_publish_unknown_total", { queue }, messages),
  );
  instrument.on("flushFailed", ({ queue }) => count("postrider_publish_buffer_flush_errors_total", { queue }));
  instrument.on("woken", ({ source }) => count("postrider_wakeups_total", { source }));
  instrument.on("polled", ({ result }) => count("postrider_poll_results_total", { result }));
  instrument.on("claimed", ({ queue, messages, publishedAt }) => {
    count("postrider_messages_received_total", { queue }, messages);
    latencySeconds.observe({ queue }, Math.max(0, Date.now() - publishedAt.getTime()) / 1_000);
  });
  instrument.on("handled", ({ queue, status, durationMs }) => {
    count("postrider_batches_handled_total", { queue, status });
    handleSeconds.observe({ queue }, durationMs / 1_000);
  });
  instrument.on("handlerFailed", ({ queue }) => count("postrider_handler_errors_total", { queue }));
  instrument.on("retried", ({ queue }) => count("postrider_batch_retries_total", { queue }));
  instrument.on("dead", ({ queue, reason }) => count("postrider_batch_permanent_failures_total", { queue, reason }));
  instrument.on("recovered", ({ queue, reason, recovered, died }) =>
    count("postrider_stale_recoveries_total", { queue, reason }, recovered + died),
  );
  instrument.on("leaseLost", ({ queue }) => count("postrider_lease_lost_total", { queue }));
  instrument.on("listenerUp", () => listenerUp.set(1));
  instrument.on("listenerDown", () => {
    listenerUp.set(0);
    count("postrider_listener_reconnects_total");
  });
}

function counterOf(registry: Registry, name: CounterName): Counter {
  const [help, labelNames] = counters[name];
  return sharedOf(registry, name, () => new Counter({ name, help, labelNames, registers: [registry] }));
}

function gaugeOf(registry: Registry, name: string, help: string, labelNames: string[]): Gauge {
  return sharedOf(registry, name, () => new Gauge({ name, help, labelNames, registers: [registry] }));
}

function histogramOf(registry: Registry, name: string, help: string): Histogram {
  const make = () =>
    new Histogram({ name, help, labelNames: ["queue"], buckets: latencyBuckets, registers: [registry] });
  return sharedOf(registry, name, make);
}

function sharedOf<M extends Metric>(registry: Registry, name: string, make: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make();
}
