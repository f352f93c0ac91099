/** The settings that hold back or keep apart messages in the whole cluster (J9, J10, J11). */
import { ms, pointer, pointers } from "./option-types.js";

export const flowOptions = {
  unique: {
    type: "object",
    additionalProperties: false,
    required: ["by"],
    properties: {
      by: {
        ...pointers("JSON Pointers into the message; one that lacks any of them is never a conflict."),
        minItems: 1,
      },
      whileIn: {
        type: "array",
        items: { enum: ["pending", "processing"] },
        contains: { const: "pending" },
        uniqueItems: true,
        default: ["pending"],
        description: "How long a message holds its key: while it waits (delayed included), or also while it runs.",
      },
      onConflict: {
        enum: ["skip", "replace"],
        default: "skip",
        description: "What comes while the key is taken is not stored, or takes the place of what waits.",
      },
    },
    description: "At most one message of a key in the whole cluster.",
  },
  orderBy: {
    description: "Messages with the same value at this JSON Pointer run one after another, in order, across nodes.",
    oneOf: [
      pointer,
      {
        type: "object",
        additionalProperties: false,
        required: ["by"],
        properties: {
          by: { ...pointer, description: "The JSON Pointer; a message that lacks it is in no line." },
          onFailure: {
            enum: ["block", "skip"],
            description: "Whether what is behind a failed or delayed message waits for it. `block` by default.",
          },
        },
      },
    ],
  },
  maxInFlight: {
    type: "integer",
    minimum: 1,
    maximum: 1_000,
    description: "Batches in flight at once in the whole cluster.",
  },
  rate: {
    type: "object",
    additionalProperties: false,
    required: ["limit", "perMs"],
    properties: {
      limit: {
        type: "integer",
        minimum: 1,
        maximum: 1_000_000,
        description: "Messages handed out, retries included.",
      },
      perMs: ms("In any stretch of this length.", { minimum: 1 }),
    },
    description: "At most so many messages in so much time, in the whole cluster.",
  },
} as const;
