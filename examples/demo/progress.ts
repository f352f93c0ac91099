/** Shows on standard error how far it is: bars on a terminal, else a line per step. */
import { MultiBar, Presets } from "cli-progress";

export interface Progress {
  step(text: string): void;
  update(done: { readonly published?: number; readonly received?: number }): void;
  stop(): void;
}

/** @param total - messages that are expected, about: repeats and refused lines are not known before they are met */
export function showProgress(total: number): Progress {
  return process.stderr.isTTY ? bars(total) : lines();
}

function lines(): Progress {
  return { step: (text) => void process.stderr.write(`${text}\n`), update: () => undefined, stop: () => undefined };
}

function bars(total: number): Progress {
  const format = " {name} |{bar}| {value}/{total}  {step}";
  const options = { format, stream: process.stderr, hideCursor: true, clearOnComplete: true };
  const multi = new MultiBar(options, Presets.shades_classic);
  const published = multi.create(total, 0, { name: "published", step: "" });
  const received = multi.create(total, 0, { name: "received ", step: "" });
  return {
    step: (step) => published.update({ step }),
    update: (done) => {
      if (done.published !== undefined) published.update(done.published);
      if (done.received !== undefined) received.update(done.received);
    },
    stop: () => multi.stop(),
  };
}
