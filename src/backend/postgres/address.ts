/** Whether a text can be the address of a database: pg takes any, and connects to localhost with what it did not understand. */
import pg from "pg";
import { PostriderError } from "../../errors.js";

const known = /^(postgres(ql)?:\/\/|socket:|\/)/i;

/**
 * @param where - the option or variable it comes from
 * @throws PostriderError `ERR_CLIENT_OPTIONS`; it shows no more of the address than its beginning, for a password may follow
 */
export function assertAddress(where: string, address: string): void {
  if (!known.test(address)) {
    const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(address) ?? [address.slice(0, 8)];
    throw badAddress(`${where} must begin with postgres:// or postgresql://, found ${JSON.stringify(`${scheme}…`)}`);
  }
  try {
    new pg.Client({ connectionString: address });
  } catch (cause) {
    const why = `${where} is no valid address: the port is a number up to 65535, and in a password # / ? and @ are written %23 %2F %3F and %40`;
    throw badAddress(why, cause);
  }
}

function badAddress(message: string, cause?: unknown): PostriderError {
  return new PostriderError("ERR_CLIENT_OPTIONS", message, { cause });
}
