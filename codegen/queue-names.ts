/** The names of queues, and their collisions: errors that name both files, never numbers at the end. */
import type { QueueSettings } from "../src/queue/queue.js";
import type { SchemaFile } from "./load.js";
import { camelName, nameWords, typeNameOf, verbSuffix } from "./names.js";
import type { Report } from "./report.js";
import { isSchemaObject } from "./schema.js";
import { settingsPointer } from "./settings.js";
import { clientExports, clientMembers, inheritedNames, windowsDevices } from "./surface.js";

/** The names of one queue. */
export interface QueueNames {
  readonly name: string;
  readonly identifier: string;
  readonly typeName: string;
}

const maxNameBytes = 64;
const namePattern = /^[a-z0-9]+([._-][a-z0-9]+)*$/;

/** The names of the queue in a file; `undefined` when they are refused. */
export function queueNames(
  file: SchemaFile,
  options: { name?: string; identifier?: string },
  report: Report,
): QueueNames | undefined {
  const fromPath = file.path.replace(/\.json$/, "").replaceAll("/", ".");
  const place = { file, pointer: pointerOf(file, options.identifier === undefined ? "name" : "identifier") };
  const refuse = (rule: string, message: string, hint?: string) =>
    report.add(place, hint === undefined ? { rule, message } : { rule, message, hint });
  if (!checkPath(file, fromPath, refuse)) return undefined;
  const name = options.name ?? fromPath;
  if (options.name !== undefined && Buffer.byteLength(name) > 254) {
    refuse("name-length", `x-queue.name has ${Buffer.byteLength(name)} bytes; at most 254`);
    return undefined;
  }
  const identifier = options.identifier ?? camelName(fromPath);
  const typeName = typeNameOf(identifier);
  if (identifier === "then") {
    refuse("name-reserved", 'a queue cannot be called "then": awaiting publishTo would call it');
  } else if (inheritedNames.has(identifier)) {
    refuse("name-reserved", `a queue cannot be called "${identifier}": every JavaScript object inherits that name`);
  }
  checkSurface({ identifier, typeName }, refuse);
  if (identifier.startsWith("_") && options.identifier === undefined) {
    report.add(place, {
      severity: "info",
      rule: "name-digit",
      message: `identifier is ${identifier}; set "x-queue": { "identifier": "…" } for a nicer one`,
    });
  }
  return { name, identifier, typeName };
}

type Refuse = (rule: string, message: string, hint?: string) => void;

function checkPath(file: SchemaFile, fromPath: string, refuse: Refuse): boolean {
  const stem =
    file.path
      .split("/")
      .at(-1)
      ?.replace(/\.json$/, "") ?? "";
  if (windowsDevices.has(stem.split(".")[0] ?? "") || stem === "index") {
    refuse("name-file", `a file cannot be called "${stem}.json" on every system; rename it`);
    return false;
  }
  if (Buffer.byteLength(fromPath) > maxNameBytes) {
    refuse(
      "name-length",
      `the queue name ${JSON.stringify(fromPath)} has ${Buffer.byteLength(fromPath)} bytes; at most ${maxNameBytes}`,
    );
    return false;
  }
  if (namePattern.test(fromPath)) return true;
  const suggestion = suggestedName(fromPath);
  const hint =
    suggestion === ""
      ? "the name needs a letter or a digit of a-z, 0-9"
      : `rename to "${suggestion}" (keep "x-queue": { "name": ${JSON.stringify(fromPath)} } if the queue already exists)`;
  refuse("name-charset", `queue names use a-z, 0-9, ".", "_" and "-", found ${JSON.stringify(fromPath)}`, hint);
  return false;
}

function suggestedName(name: string): string {
  return nameWords(name.normalize("NFKD").replace(/\p{M}/gu, ""))
    .join("-")
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "")
    .replace(/^-+|-+$|-(?=-)/g, "");
}

function checkSurface(names: { identifier: string; typeName: string }, refuse: Refuse): void {
  const hint = 'set "x-queue": { "identifier": "…" } to another name';
  const suffix = verbSuffix(names.typeName);
  for (const exported of [names.typeName, `on${suffix}`, `is${suffix}`]) {
    if (clientExports.has(exported) || clientMembers.has(exported)) {
      refuse("name-reserved", `${exported} is a name of the generated client`, hint);
    }
  }
}

/** What collisions are looked for in. */
interface NamedQueue extends QueueNames {
  readonly file: SchemaFile;
  readonly settings: Pick<QueueSettings, "aliases">;
}

/** Refuses queues that would share a name in code, in the database or on a disk that knows no case. */
export function checkNames(queues: readonly NamedQueue[], report: Report): void {
  const keys: readonly [string, (queue: NamedQueue) => readonly string[], (key: string) => string][] = [
    ["identifier", (queue) => [queue.identifier], (key) => `publishTo.${key}`],
    ["exports", exportsOf, (key) => key],
    ["name", databaseNames, (key) => `the queue ${JSON.stringify(key)}`],
  ];
  const told = new Set<string>();
  for (const [, keysOf, describe] of keys) {
    const owners = new Map<string, NamedQueue>();
    for (const queue of queues) {
      for (const key of keysOf(queue)) {
        const owner = owners.get(key);
        const pair = `${owner?.file.path}\n${queue.file.path}`;
        if (owner === undefined || owner === queue) owners.set(key, queue);
        else if (!told.has(pair)) {
          told.add(pair);
          report.add(
            { file: queue.file, pointer: pointerOf(queue.file, "identifier") },
            {
              rule: "name-collision",
              message: `queues "${owner.name}" and "${queue.name}" both become ${describe(key)}`,
              also: owner.file.display,
              hint: 'rename one file, or set "x-queue": { "identifier": "…" } in one of them',
            },
          );
        }
      }
    }
  }
}

// A former name still has rows; another queue of that name would be mixed up with them.
function databaseNames({ name, settings }: NamedQueue): string[] {
  return [...new Set([name, ...settings.aliases].map((known) => known.normalize("NFKC").toLowerCase()))];
}

function exportsOf(queue: QueueNames): string[] {
  const suffix = verbSuffix(queue.typeName);
  return [...new Set([queue.typeName, `on${suffix}`, `is${suffix}`])];
}

function pointerOf(file: SchemaFile, key: string): string {
  const { value } = file.json;
  const settings = isSchemaObject(value) ? value["x-queue"] : undefined;
  return isSchemaObject(settings) && key in settings ? `${settingsPointer}/${key}` : "";
}
