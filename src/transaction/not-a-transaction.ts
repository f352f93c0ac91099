/** An adapter was handed the library itself where its open transaction belongs: the row would be stored at once, and stay. */
import { PostriderError } from "../errors.js";

export function notATransaction(adapter: string, expected: string): PostriderError {
  return new PostriderError("ERR_PUBLISH_OPTIONS", `${adapter} takes ${expected}: what it was given is no transaction`);
}
