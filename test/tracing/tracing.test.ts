/** Spans with a real SDK: what a publish and a handler call leave, and how they are linked. */
import assert from "node:assert/strict";
import test from "node:test";
import { context, propagation, SpanKind, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { nextEvent, testClient } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";

const queues = [testQueue("q", { maxAttempts: 1 })];
const exporter = new InMemorySpanExporter();

function register(): void {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
}

const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
const linksOf = ({ links }: ReadableSpan) => links.map((link) => link.context.spanId);
const idsOf = (spans: readonly ReadableSpan[]) => spans.map((span) => span.spanContext().spanId);

test("with no SDK registered there is no span and no header, also when one is registered later", async (t) => {
  const mq = testClient(t, { backend: "memory", queues });
  const headers: unknown[] = [];
  mq.queue("q").listen.each((_, context) => void headers.push(context.headers));
  await mq.queue("q").publish({ n: 1 });
  const handled = nextEvent(mq, "handled");
  await mq.start();
  await handled;
  register();
  t.after(() => {
    trace.disable();
    context.disable();
    propagation.disable();
    exporter.reset();
  });
  const handledAgain = nextEvent(mq, "handled");
  await mq.queue("q").publish({ n: 2 });
  await handledAgain;
  assert.deepEqual([headers, exporter.getFinishedSpans().length], [[{}, {}], 0]);
});

test("with an SDK", async (t) => {
  register();
  t.afterEach(() => exporter.reset());

  await t.test("a handler call is a trace of its own, linked to the publishes of its messages", async (t) => {
    const mq = testClient(t, { backend: "memory", queues });
    const { publish } = mq.queue("q");
    await publish({ n: 1 });
    await publish.many([{ n: 2 }, { n: 3 }]);
    let inside: string | undefined;
    const headers: Readonly<Record<string, string>>[] = [];
    mq.queue("q").listen((_, context) => {
      inside = trace.getActiveSpan()?.spanContext().spanId;
      headers.push(...context.headers);
    });
    const handled = nextEvent(mq, "handled");
    await mq.start();
    await handled;
    const published = named("publish q");
    const [call] = named("process q");
    assert.ok(call !== undefined);
    assert.deepEqual(
      published.map(({ kind, attributes }) => [kind, attributes["messaging.batch.message_count"]]),
      [
        [SpanKind.PRODUCER, 1],
        [SpanKind.PRODUCER, 2],
      ],
    );
    assert.deepEqual([call.kind, call.parentSpanContext, inside], [SpanKind.CONSUMER, undefined, ...idsOf([call])]);
    assert.deepEqual(linksOf(call), idsOf(published));
    assert.equal(call.attributes["messaging.destination.name"], "q");
    assert.equal(headers.length, 3);
    assert.match(headers[0]?.traceparent ?? "", new RegExp(`^00-${published[0]?.spanContext().traceId}-`));
  });

  await t.test("a publish is a child of the caller's span, and its caller's own headers stay", async (t) => {
    const mq = testClient(t, { backend: "memory", queues });
    const headers: Readonly<Record<string, string>>[] = [];
    mq.queue("q").listen.each((_, context) => void headers.push(context.headers));
    const parent = trace.getTracer("test").startSpan("request");
    await context.with(trace.setSpan(context.active(), parent), () =>
      mq.queue("q").publish({ n: 1 }, { headers: { tenant: "t-1" } }),
    );
    const handled = nextEvent(mq, "handled");
    await mq.start();
    await handled;
    assert.equal(named("publish q")[0]?.parentSpanContext?.spanId, parent.spanContext().spanId);
    assert.deepEqual(Object.keys(headers[0] ?? {}).toSorted(), ["tenant", "traceparent"]);
  });

  await t.test("a throw and a refused publish end their spans as errors, and pass through", async (t) => {
    const mq = testClient(t, { backend: "memory", queues });
    mq.queue("q").listen(() => {
      throw new RangeError("no");
    });
    await assert.rejects(mq.queue("q").publish({ n: "one" }), { code: "ERR_MESSAGE_INVALID" });
    await mq.queue("q").publish({ n: 1 });
    const dead = nextEvent(mq, "dead");
    await mq.start();
    assert.match((await dead).error, /RangeError: no/);
    const failed = exporter.getFinishedSpans().filter(({ status }) => status.code === 2);
    assert.deepEqual(
      failed.map(({ name, attributes }) => [name, attributes["error.type"]]),
      [
        ["publish q", "ERR_MESSAGE_INVALID"],
        ["process q", "RangeError"],
      ],
    );
  });
});
