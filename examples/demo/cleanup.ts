/** What must be undone however the demo ends, in the reverse order: at the end, on an error, on Ctrl-C. */
export class Cleanup {
  readonly #steps: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** Safe to call twice: the second call waits for the first. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    for (const step of this.#steps.reverse()) await step();
  }
}
