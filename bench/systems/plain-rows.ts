/** Plain SQL with a row a message; a consumer takes up to a hundred rows at once. */
import { plainAdapter } from "./plain.js";

export const adapter = plainAdapter({ table: "plain_row", messagesPerRow: 1, rowsPerClaim: 100 });
