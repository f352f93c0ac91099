/** Plain SQL with up to a hundred messages in a row; a consumer takes one row at a time. */
import { plainAdapter } from "./plain.js";

export const adapter = plainAdapter({ table: "plain_hundred", messagesPerRow: 100, rowsPerClaim: 1 });
