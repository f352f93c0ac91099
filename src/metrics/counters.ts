/** The counters and histograms. Made once for a registry and held: looking one up for every event costs more than counting. */
import { Counter, Histogram, type Metric, type Registry } from "prom-client";
import type { Instrument } from "../instrument.js";

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Subscribes the registry's counters and histograms to one client's events. */
export function countEvents(instrument: Instrument, registry: Registry): void {
  const counter = (name: string, help: string, labelNames: readonly string[] = ["queue"]) =>
    sharedOf(registry, name, () => new Counter({ name, help, labelNames, registers: [registry] }));
  const histogram = (name: string, help: string) => {
    const labelNames = ["queue"];
    const make = () => new Histogram({ name, help, labelNames, buckets: latencyBuckets, registers: [registry] });
    return sharedOf(registry, name, make);
  };

  const published = counter("postrider_messages_published_total", "Messages stored.");
  instrument.on("published", ({ queue, messages }) => published.inc({ queue }, messages));

  const repeats = counter("postrider_dedup_messages_dropped_total", "Messages dropped as repeats when published.");
  instrument.on("deduplicated", ({ queue, messages }) => repeats.inc({ queue }, messages));

  const unknown = counter("postrider_publish_unknown_total", "Messages whose write went unanswered and was repeated.");
  instrument.on("publishUnknown", ({ queue, messages }) => unknown.inc({ queue }, messages));

  const flushErrors = counter("postrider_publish_buffer_flush_errors_total", "Failed writes of the publish buffer.");
  instrument.on("flushFailed", ({ queue }) => flushErrors.inc({ queue }));

  const wakeups = counter("postrider_wakeups_total", "Looks that found work, by why the node looked.", ["source"]);
  instrument.on("woken", ({ source }) => wakeups.inc({ source }));

  const rounds = counter("postrider_poll_results_total", "Rounds that found work or not.", ["result"]);
  instrument.on("polled", ({ result }) => rounds.inc({ result }));

  const received = counter("postrider_messages_received_total", "Messages claimed.");
  const latency = histogram("postrider_delivery_latency_seconds", "From publish to claim, by this node's clock.");
  instrument.on("claimed", ({ queue, messages, publishedAt }) => {
    received.inc({ queue }, messages);
    latency.observe({ queue }, Math.max(0, Date.now() - publishedAt.getTime()) / 1_000);
  });

  const ended = ["queue", "status"];
  const handled = counter("postrider_batches_handled_total", "Handler calls, by how they ended.", ended);
  const duration = histogram("postrider_handle_duration_seconds", "Time in handlers.");
  instrument.on("handled", ({ queue, status, durationMs }) => {
    handled.inc({ queue, status });
    duration.observe({ queue }, durationMs / 1_000);
  });

  const failed = counter("postrider_handler_errors_total", "Handler calls that threw.");
  instrument.on("handlerFailed", ({ queue }) => failed.inc({ queue }));

  const retried = counter("postrider_batch_retries_total", "Failed batches that will be delivered again.");
  instrument.on("retried", ({ queue }) => retried.inc({ queue }));

  const dead = counter("postrider_batch_permanent_failures_total", "Batches given up.", ["queue", "reason"]);
  instrument.on("dead", ({ queue, reason }) => dead.inc({ queue, reason }));

  const why = ["queue", "reason"];
  const recovered = counter("postrider_stale_recoveries_total", "Batches taken back from lost nodes.", why);
  instrument.on("recovered", (recovery) => {
    const { queue, reason } = recovery;
    recovered.inc({ queue, reason }, recovery.recovered + recovery.died);
  });

  const lost = counter("postrider_lease_lost_total", "Batches lost to recovery before they were settled.");
  instrument.on("leaseLost", ({ queue }) => lost.inc({ queue }));

  const reconnects = counter("postrider_listener_reconnects_total", "LISTEN sessions lost or not to be had.", []);
  instrument.on("listenerDown", () => reconnects.inc());
}

// Two clients may share a registry: the second one finds what the first has made.
function sharedOf<M extends Metric>(registry: Registry, name: string, make: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make();
}
