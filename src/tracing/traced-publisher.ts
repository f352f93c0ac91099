/** A publisher whose calls are spans; where nobody traces, the publisher as it is. */
import { quiet } from "../publish/publish-to.js";
import type { Publisher, PublishOptions } from "../publish/publisher.js";
import type { Tracer } from "./tracer.js";

export function tracedPublisher(
  queue: string,
  publisher: Publisher<unknown>,
  tracer: () => Tracer | undefined,
): Publisher<unknown> {
  // A message keeps what its caller put into its headers, a trace context among it.
  const inSpan = <T>(
    messages: number | undefined,
    options: PublishOptions | undefined,
    publish: (options: PublishOptions | undefined) => Promise<T>,
  ): Promise<T> => {
    const found = tracer();
    if (found === undefined) return publish(options);
    const { span, headers } = found.producer({ queue, ...(messages === undefined ? {} : { messages }) });
    const traced = publish({ ...options, headers: { ...headers, ...options?.headers } }).then(
      (result) => {
        span.end();
        return result;
      },
      (error: unknown) => {
        found.fail(span, error);
        throw error;
      },
    );
    return quiet(traced);
  };

  const one = (message: unknown, options?: PublishOptions) => inSpan(1, options, (to) => publisher(message, to));

  const many: Publisher<unknown>["many"] = (messages, options) => {
    return inSpan(Array.isArray(messages) ? messages.length : undefined, options, (to) => publisher.many(messages, to));
  };

  const collect: Publisher<unknown>["collect"] = (body, options) => {
    return inSpan(undefined, options, (to) => publisher.collect(body, to));
  };

  return Object.assign(one, publisher, { many, collect });
}
