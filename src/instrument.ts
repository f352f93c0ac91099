/** The one choke point for telemetry: parts emit events, metrics and logs subscribe, and none of them can break delivery. */

/** Anything with these four: pino fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
