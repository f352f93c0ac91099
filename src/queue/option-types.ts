/** Kinds of values that several queue settings have. */

/** Milliseconds, up to a year. */
export const ms = (description: string, rest: object = {}) => ({
  type: "integer",
  minimum: 0,
  maximum: 31_536_000_000,
  description,
  ...rest,
});

/** A JSON Pointer that is not empty. */
export const pointer = { type: "string", pattern: "^(/[^/]*)+$" } as const;

export const pointers = (description: string) => ({
  type: "array",
  items: pointer,
  uniqueItems: true,
  description,
});
