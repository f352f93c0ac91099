/** Asks before something that cannot be undone. */
import { createInterface } from "node:readline/promises";

/** Whether `yes` was typed. Without a terminal there is nobody to ask: only a flag will do. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} Type yes: `);
  terminal.close();
  return answer.trim() === "yes";
}
