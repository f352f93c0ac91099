/** Asks before something that cannot be undone. */
import { createInterface } from "node:readline/promises";

/** Whether `yes` was typed. Without a terminal there is nobody to ask: only a flag will do. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${question} Type yes: `)).trim() === "yes";
  } catch (error) {
    // Ctrl-C and Ctrl-D are an answer too.
    if ((error as { code?: unknown }).code !== "ABORT_ERR") throw error;
    process.stderr.write("\n");
    return false;
  } finally {
    terminal.close();
  }
}
