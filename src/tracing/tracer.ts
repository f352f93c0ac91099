/**
 * Spans through `@opentelemetry/api`, where an application has it and has registered an SDK; otherwise nothing at all. The
 * package is looked for, and the SDK asked for, once: at a client's first publish or handler call.
 */
import { createRequire } from "node:module";
import type { Attributes, Context, Link, Span } from "@opentelemetry/api";

type Api = typeof import("@opentelemetry/api");

/** What a span says about the messages it is for. */
export interface Subject {
  readonly queue: string;
  /** How many; absent where nobody knows yet. */
  readonly messages?: number;
  readonly attributes?: Attributes;
}

export class Tracer {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** A span for a publish, child of the caller's, and the headers that carry it. */
  producer(subject: Subject): { readonly span: Span; readonly headers: Readonly<Record<string, string>> } {
    const { context, propagation, SpanKind, trace } = this.#api;
    const attributes = attributesOf(subject, "send", "publish");
    const around = context.active();
    const span = this.#tracer().startSpan(`publish ${subject.queue}`, { kind: SpanKind.PRODUCER, attributes }, around);
    const headers: Record<string, string> = {};
    propagation.inject(trace.setSpan(around, span), headers);
    return { span, headers };
  }

  /** Runs a handler call in a span of its own trace, with a link to each producer's span. Ends it when the call ends. */
  async consumer<T>(subject: Subject, headers: readonly Readonly<Record<string, string>>[], call: () => T): Promise<T> {
    const { context, ROOT_CONTEXT, SpanKind, trace } = this.#api;
    const attributes = attributesOf(subject, "process", "process");
    const options = { kind: SpanKind.CONSUMER, attributes, links: this.#linksTo(headers) };
    const span = this.#tracer().startSpan(`process ${subject.queue}`, options, ROOT_CONTEXT);
    try {
      const result = await context.with(trace.setSpan(ROOT_CONTEXT, span), call);
      span.end();
      return result;
    } catch (error) {
      this.fail(span, error);
      throw error;
    }
  }

  /** Ends a span whose work has failed. */
  fail(span: Span, error: unknown): void {
    const exception = error instanceof Error ? error : new Error(String(error));
    span.recordException(exception);
    span.setAttribute("error.type", (exception as { code?: unknown }).code?.toString() ?? exception.name);
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: exception.message });
    span.end();
  }

  // One link per producer: messages published together carry the same context.
  #linksTo(headers: readonly Readonly<Record<string, string>>[]): Link[] {
    const { propagation, ROOT_CONTEXT, trace, isSpanContextValid } = this.#api;
    const links = new Map<string, Link>();
    for (const carrier of headers) {
      if (Object.keys(carrier).length === 0) continue;
      const from: Context = propagation.extract(ROOT_CONTEXT, carrier);
      const context = trace.getSpanContext(from);
      if (context !== undefined && isSpanContextValid(context)) links.set(context.spanId, { context });
    }
    return [...links.values()];
  }

  // Asked for each time: the API keeps it, and an SDK may be replaced.
  #tracer() {
    return this.#api.trace.getTracer("postrider");
  }
}

// After OpenTelemetry's semantic conventions for messaging.
function attributesOf({ queue, messages, attributes }: Subject, type: string, name: string): Attributes {
  return {
    "messaging.system": "postrider",
    "messaging.destination.name": queue,
    "messaging.operation.type": type,
    "messaging.operation.name": name,
    ...(messages === undefined ? {} : { "messaging.batch.message_count": messages }),
    ...attributes,
  };
}

/** Finds the tracer at its first call, and keeps to what it found. */
export function tracerOnce(): () => Tracer | undefined {
  let found: Tracer | undefined;
  let asked = false;
  return () => {
    if (!asked) {
      asked = true;
      found = findTracer();
    }
    return found;
  };
}

function findTracer(): Tracer | undefined {
  const api = installedApi();
  if (api === undefined) return undefined;
  // What a provider that nobody has given anything delegates to: the one that does nothing.
  const nothing = new api.ProxyTracerProvider().getDelegate();
  const provider = api.trace.getTracerProvider();
  const isRegistered = !(provider instanceof api.ProxyTracerProvider) || provider.getDelegate() !== nothing;
  return isRegistered ? new Tracer(api) : undefined;
}

// Required, not imported: it need not be there, and a client is made without waiting for anything.
function installedApi(): Api | undefined {
  try {
    return createRequire(import.meta.url)("@opentelemetry/api") as Api;
  } catch {
    return undefined;
  }
}
