/** `npm run demo`: see `npm run demo -- --help`. */
import { CommanderError } from "commander";
import type { Account } from "./account.js";
import { Cleanup } from "./cleanup.js";
import { type DemoOptions, parseOptions } from "./options.js";
import { refusalText, reportText } from "./report.js";
import { runDemo } from "./run-demo.js";

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const cleanup = new Cleanup();
let interrupted = false;

for (const [signal, code] of Object.entries(exitCodes)) {
  process.on(signal, () => {
    // The second one does not wait: the children end with this process all the same.
    if (interrupted) process.exit(code);
    interrupted = true;
    void cleanup.run().finally(() => process.exit(code));
  });
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: DemoOptions;
  try {
    options = parseOptions(args);
  } catch (error) {
    // Commander has said what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
  try {
    const account = await runDemo(options, cleanup);
    await cleanup.run();
    show(account, options);
    return account.problems.length === 0 ? 0 : 1;
  } catch (error) {
    if (!interrupted)
      process.stderr.write(`the demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
    await cleanup.run();
    return 1;
  }
}

function show(account: Account, { json }: DemoOptions): void {
  process.stderr.write(refusalText(account.refusals));
  process.stdout.write(json === true ? `${JSON.stringify(account)}\n` : reportText(account));
}
