/** `npm run docs`: writes the pages that are printed from tables in the code. */
import { writeFileSync } from "node:fs";
import { printedPages } from "./printed-pages.js";

for (const [name, text] of Object.entries(printedPages())) {
  writeFileSync(new URL(name, import.meta.url), text);
}
