/** Handlers whose calls are spans, linked to the publishes of their messages. */
import type { BatchHandler, ListenOptions, MessageHandler, Subscribe } from "../deliver/handler.js";
import type { Tracer } from "./tracer.js";

export function tracedSubscribe(subscribe: Subscribe<unknown>, tracer: () => Tracer | undefined): Subscribe<unknown> {
  const onBatch = (handler: BatchHandler<unknown>, options?: ListenOptions) => {
    // Refused by whoever checks it: wrapped, it would be a function all the same.
    if (typeof handler !== "function") return subscribe(handler, options);
    const traced: BatchHandler<unknown> = (messages, context) => {
      const found = tracer();
      if (found === undefined) return handler(messages, context);
      const { queue, attempt, headers } = context;
      const subject = { queue, messages: messages.length, attributes: { "postrider.attempt": attempt } };
      return found.consumer(subject, headers, () => handler(messages, context));
    };
    return subscribe(traced, options);
  };

  const each = (handler: MessageHandler<unknown>, options?: ListenOptions) => {
    if (typeof handler !== "function") return subscribe.each(handler, options);
    const traced: MessageHandler<unknown> = (message, context) => {
      const found = tracer();
      if (found === undefined) return handler(message, context);
      const { queue, attempt, headers, id } = context;
      const attributes = { "messaging.message.id": id, "postrider.attempt": attempt };
      return found.consumer({ queue, attributes }, [headers], () => handler(message, context));
    };
    return subscribe.each(traced, options);
  };

  return Object.assign(onBatch, { each });
}
