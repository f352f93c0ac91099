/** Prometheus metrics, all of them subscribers of the one choke point. Two clients may share a registry. */
import type { Registry } from "prom-client";
import type { Instrument } from "../instrument.js";
import { countEvents } from "./counters.js";
import { showReadings } from "./gauges.js";
import { Readings } from "./readings.js";

/**
 * Registers the metrics and subscribes them.
 *
 * @returns ends the client's gauges; what was counted stays
 */
export function meter(
  instrument: Instrument,
  registry: Registry,
  bufferDepths: () => ReadonlyMap<string, number>,
): () => void {
  countEvents(instrument, registry);
  return showReadings(registry, new Readings(instrument, bufferDepths));
}
