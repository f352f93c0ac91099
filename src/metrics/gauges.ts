/**
 * The gauges. They are computed when scraped, from the readings of all clients that share the registry: what a process holds
 * is added up, what the database holds is the same for all, so the newest reading counts.
 */
import { Gauge, type Registry } from "prom-client";
import type { Readings } from "./readings.js";

const shared = new WeakMap<Registry, Set<Readings>>();

/** Shows these readings among the registry's gauges; the returned function ends that. */
export function showReadings(registry: Registry, readings: Readings): () => void {
  const all = shared.get(registry) ?? new Set<Readings>();
  shared.set(registry, all);
  all.add(readings);
  // Whoever owns the registry may have cleared it since.
  if (registry.getSingleMetric(listenerUpName) === undefined) registerGauges(registry, all);
  return () => all.delete(readings);
}

const listenerUpName = "postrider_listener_up";

function registerGauges(registry: Registry, all: ReadonlySet<Readings>): void {
  const gauge = (name: string, help: string, labelNames: string[], show: (gauge: Gauge) => void) => {
    const collect = function (this: Gauge) {
      this.reset();
      show(this);
    };
    new Gauge({ name, help, labelNames, registers: [registry], collect });
  };
  const queueGauge = (name: string, help: string, show: (gauge: Gauge) => void) => gauge(name, help, ["queue"], show);

  gauge(listenerUpName, "1 while notifications are proved to arrive.", [], (up) => {
    const states = [...all].flatMap(({ listenerUp }) => listenerUp ?? []);
    if (states.length > 0) up.set(states.every((isUp) => isUp) ? 1 : 0);
    else up.remove();
  });
  queueGauge("postrider_publish_buffer_depth", "Messages waiting to be written.", (depth) => {
    for (const { bufferDepths } of all) for (const [queue, messages] of bufferDepths()) depth.inc({ queue }, messages);
  });
  queueGauge("postrider_handlers_overdue", "Handlers that run on, long past their timeoutMs.", (overdue) => {
    for (const readings of all) for (const [queue, count] of readings.overdue) overdue.inc({ queue }, count);
  });

  const ofQueues = function* () {
    for (const { queues } of [...all].sort((a, b) => a.readAt - b.readAt)) yield* queues;
  };
  const statusLabels = ["queue", "status", "estimated"];
  gauge("postrider_queue_depth", "Batches, by status; above 10,000 estimated.", statusLabels, (depth) => {
    for (const { queue, depths, estimated } of ofQueues()) {
      for (const [status, batches] of Object.entries(depths)) {
        const isEstimated = estimated.includes(status);
        // One series at a time, or an older reading would stand beside the newer one.
        depth.remove(isEstimated ? { queue, status } : { queue, status, estimated: "true" });
        depth.set(isEstimated ? { queue, status, estimated: "true" } : { queue, status }, batches);
      }
    }
  });
  queueGauge("postrider_oldest_message_age_seconds", "Age of the oldest waiting message.", (age) => {
    for (const { queue, oldestAgeMs = 0 } of ofQueues()) age.set({ queue }, oldestAgeMs / 1_000);
  });
  queueGauge("postrider_unconsumable_batches", "Waiting batches newer than every live node.", (unconsumable) => {
    for (const { queue, unconsumable: batches } of ofQueues()) unconsumable.set({ queue }, batches);
  });
}
