/** `index.js`: the typed client. Importing it opens nothing. */
import { posix } from "node:path";
import type { QueueModel } from "../model.js";
import { verbSuffix } from "../names.js";
import { valueAt } from "../pointer.js";
import { header } from "./header.js";
import { validatorsAlias, validatorsPath } from "./queues.js";
import { settingsLines } from "./settings-doc.js";
import { type Mapping, sourceMapText } from "./source-map.js";
import { docLines, sourceText } from "./source-text.js";
import { typesPath } from "./types.js";

/** What the client emitter needs to know of the whole. */
export interface ClientContext {
  /** The schema folder as messages name it. */
  readonly schemas: string;
  /** The schema folder, relative to the output folder. */
  readonly schemasFromOut: string;
}

/** `index.js`, its declarations and their map. */
export function clientModule(queues: readonly QueueModel[], context: ClientContext): ReadonlyMap<string, string> {
  const declarations = clientDeclarations(queues, context);
  return new Map([
    ["index.js", clientScript(queues, context)],
    ["index.d.ts", declarations.text],
    ["index.d.ts.map", sourceMapText("index.d.ts", declarations.mappings)],
  ]);
}

function clientScript(queues: readonly QueueModel[], context: ClientContext): string {
  return sourceText((writer) => {
    writer.writeLine(header(context.schemas));
    writer.writeLine('import * as $rt from "postrider";');
    writer.writeLine('import { queues as $queues } from "./queues.js";');
    for (const queue of queues) {
      writer.writeLine(`import { deliver as ${validatorsAlias(queue)} } from "./${validatorsPath(queue)}.js";`);
    }
    writer.blankLine();
    writer.writeLine("/** A client of one database. Connects on first use. */");
    writer.writeLine("export function createClient($options = {}) {");
    writer.writeLine("  return $rt.createRuntime({ ...$options, queues: $queues });");
    writer.writeLine("}");
    writer.blankLine();
    writer.writeLine("/** The default client; the address is read from DATABASE_URL when it is first used. */");
    const own = "createClient({ connectionString: () => process.env.DATABASE_URL })";
    writer.writeLine(`export const mq = $rt.defaultClient(${own});`);
    writer.writeLine("export const publishTo = mq.publishTo;");
    for (const queue of queues) {
      const on = `on${verbSuffix(queue.typeName)}`;
      writer.writeLine(`export const ${on} = mq.${on};`);
    }
    writer.blankLine();
    for (const queue of queues) {
      writer.writeLine(`export const is${verbSuffix(queue.typeName)} = ($value) => ${validatorsAlias(queue)}($value);`);
    }
  });
}

/** Lines of a declaration file, with the places that names in them come from. */
class DeclarationLines {
  readonly lines: string[] = [];
  readonly mappings: Mapping[] = [];
  readonly #schemasFromOut: string;

  constructor(schemasFromOut: string) {
    this.#schemasFromOut = schemasFromOut;
  }

  add(...lines: string[]): void {
    for (const line of lines) this.lines.push(...line.split("\n"));
  }

  doc(text: string, indent: string): void {
    const lines = docLines(text);
    this.lines.push(
      `${indent}/**`,
      ...lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}`),
      `${indent} */`,
    );
  }

  /** A line that declares a queue's name: definition lookups lead to the schema file. */
  declare(queue: QueueModel, before: string, after: string): void {
    const source = posix.join(this.#schemasFromOut, queue.file.path);
    const position = queue.file.json.positionOf("");
    this.mappings.push({ line: this.lines.length, column: before.length, source, position });
    this.lines.push(before + after);
  }
}

function clientDeclarations(
  queues: readonly QueueModel[],
  context: ClientContext,
): { text: string; mappings: readonly Mapping[] } {
  const out = new DeclarationLines(context.schemasFromOut);
  out.add(header(context.schemas), 'import type * as $rt from "postrider";');
  for (const queue of queues) {
    out.add(`import type * as ${validatorsAlias(queue)} from "./${typesPath(queue.file)}.js";`);
  }
  out.add("");
  for (const queue of queues) out.add(`export type { ${queue.typeName} } from "./${typesPath(queue.file)}.js";`);
  out.add("", "/** The publishing functions, one per queue. */", "export interface PublishTo {");
  for (const queue of queues) {
    out.doc(queueDoc(queue, "Publishes one message"), "  ");
    out.declare(queue, "  readonly ", `${queue.identifier}: $rt.Publisher<${messageType(queue)}>;`);
  }
  out.add("}", "", "/** A client of one database: publishers, listeners, transactions, inspection. */");
  out.add("export interface Client extends $rt.Runtime {", "  readonly publishTo: PublishTo;");
  for (const queue of queues) {
    out.doc(queueDoc(queue, "Registers the handler"), "  ");
    out.declare(queue, "  readonly ", `on${verbSuffix(queue.typeName)}: $rt.Subscribe<${messageType(queue)}>;`);
  }
  out.add("}", "", "/** A client of one database. Connects on first use. */");
  out.add("export declare function createClient(options?: $rt.ClientOptions): Client;", "");
  out.add("/** The default client; the address is read from DATABASE_URL when it is first used. */");
  out.add("export declare const mq: Client;", "", "/** The publishing functions of the default client. */");
  out.add("export declare const publishTo: PublishTo;");
  for (const queue of queues) {
    const suffix = verbSuffix(queue.typeName);
    out.add("");
    out.doc(queueDoc(queue, "Registers the handler, in the default client,"), "");
    out.declare(queue, "export declare const ", `on${suffix}: $rt.Subscribe<${messageType(queue)}>;`);
    out.add(
      "",
      `/** Whether a value is a message that a handler of \`${docLines(queue.name).join(" ")}\` may be given: unknown properties are ignored. */`,
    );
    out.declare(queue, "export declare function ", `is${suffix}(value: unknown): value is ${messageType(queue)};`);
  }
  out.add("//# sourceMappingURL=index.d.ts.map", "");
  return { text: sourceText((writer) => writer.write(out.lines.join("\n"))), mappings: out.mappings };
}

function messageType(queue: QueueModel): string {
  return `${validatorsAlias(queue)}.${queue.typeName}`;
}

function queueDoc(queue: QueueModel, verb: string): string {
  const description = valueAt(queue.file.json.value, "/description");
  return [
    ...(typeof description === "string" ? [description, ""] : []),
    `${verb} of the queue \`${queue.name}\` (${queue.file.display}).`,
    "",
    ...settingsLines(queue.settings),
  ].join("\n");
}
