/** The syntax of generated scripts. */
import { Script } from "node:vm";

/** What is wrong with a generated script's syntax. The engine that will run it parses it fastest. */
export function scriptFault(text: string): string | undefined {
  try {
    // As a script: imports and exports are whole lines of ours.
    new Script(`"use strict";${text.replace(/^import .*$/gm, "").replaceAll("export ", "")}`);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
