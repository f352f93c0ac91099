/** `queues.js`: the frozen queue definitions that the runtime is given. */
import { posix } from "node:path";
import type { QueueModel } from "../model.js";
import { header } from "./header.js";
import { sourceText } from "./source-text.js";

/** Where the validators of a queue are written, below the output folder, without extension. */
export function validatorsPath(queue: QueueModel): string {
  return `validators/${queue.file.path.replace(/\.json$/, "")}`;
}

/** The name under which the validators of the queue at an index are imported. */
export function validatorsAlias(queue: QueueModel): string {
  return `$${queue.identifier}`;
}

/** The declarations of a queue's validators. */
export function validatorsDeclarations(queue: QueueModel): string {
  return [
    header(queue.file.display),
    'import type { Validate } from "postrider";',
    "/** Strict, for publishing: unknown properties are refused. */",
    "export declare const publish: Validate;",
    "/** Lenient, for delivery: unknown properties are ignored. */",
    "export declare const deliver: Validate;",
    "",
  ].join("\n");
}

/** `queues.js` and its declarations. */
export function queuesModule(queues: readonly QueueModel[], schemas: string): ReadonlyMap<string, string> {
  const script = sourceText((writer) => {
    writer.writeLine(header(schemas));
    for (const queue of queues) {
      writer.writeLine(`import * as ${validatorsAlias(queue)} from "./${validatorsPath(queue)}.js";`);
    }
    writer.blankLine();
    writer.writeLine(
      "/** Freezes a value and everything in it: definitions are the same on every node and in every test. */",
    );
    writer.writeLine("function freeze($value) {");
    writer.writeLine('  if (typeof $value === "object" && $value !== null) Object.values($value).forEach(freeze);');
    writer.writeLine("  return Object.freeze($value);");
    writer.writeLine("}");
    writer.blankLine();
    writer.writeLine("/** Every queue, in order of schema file. */");
    writer.writeLine("export const queues = Object.freeze([");
    for (const queue of queues) writer.write(definitionText(queue));
    writer.writeLine("]);");
  });
  const declarations = sourceText((writer) => {
    writer.writeLine(header(schemas));
    writer.writeLine('import type { QueueDefinition } from "postrider";');
    writer.writeLine("/** Every queue, in order of schema file. */");
    writer.writeLine("export declare const queues: readonly QueueDefinition[];");
  });
  return new Map([
    ["queues.js", script],
    ["queues.d.ts", declarations],
  ]);
}

function definitionText(queue: QueueModel): string {
  const alias = validatorsAlias(queue);
  return [
    "  Object.freeze({",
    `    name: ${JSON.stringify(queue.name)},`,
    `    identifier: ${JSON.stringify(queue.identifier)},`,
    `    typeName: ${JSON.stringify(queue.typeName)},`,
    `    settings: freeze(${JSON.stringify(queue.settings)}),`,
    `    schema: freeze(${JSON.stringify(queue.document)}),`,
    `    schemaHash: ${JSON.stringify(queue.schemaHash)},`,
    `    source: ${JSON.stringify(posix.normalize(queue.file.display))},`,
    `    validatePublish: ${alias}.publish,`,
    `    validateDeliver: ${alias}.deliver,`,
    "  }),",
    "",
  ].join("\n");
}
