/** The types of one schema file: its message or definitions, and the objects inside them. */
import { posix } from "node:path";
import type { Place, SchemaFile } from "../load.js";
import { valueAt } from "../pointer.js";
import { compareText } from "../problem.js";
import { isSchemaObject } from "../schema.js";
import type { NamedShape, Shape } from "../shape/shape.js";
import { declarationText } from "./declaration-text.js";
import { header } from "./header.js";
import { nameInlineObjects } from "./inline-names.js";
import type { Mapping } from "./source-map.js";
import { sourceMapText } from "./source-map.js";
import { docText, sourceText } from "./source-text.js";
import { tidyDeclaration } from "./tidy.js";
import { type TypeScope, typeSchema } from "./type-schema.js";

/** What the type emitter needs to know of the whole. */
export interface TypesContext {
  readonly names: ReadonlyMap<NamedShape, string>;
  /** The schema folder, relative to the output folder. */
  readonly schemasFromOut: string;
}

interface Declaration {
  readonly name: string;
  readonly shape: Shape;
  readonly place: Place;
}

/** Where the types of a schema file are written, below the output folder, without extension. */
export function typesPath(file: SchemaFile): string {
  return `types/${file.path.replace(/\.json$/, "")}`;
}

/** The name under which a module imports the types of a schema file: a function of its path, and never a message's name. */
export function typesAlias(file: SchemaFile): string {
  const path = file.path.replace(/\.json$/, "");
  return `$${path.replace(/[^A-Za-z0-9_]/g, (char) => aliasSigns.get(char) ?? `$u${char.charCodeAt(0).toString(16)}`)}`;
}

const aliasSigns: ReadonlyMap<string, string> = new Map([
  ["/", "$"],
  ["-", "$_"],
  [".", "$$"],
]);

/** The declaration file and its map. */
export async function typesModule(
  file: SchemaFile,
  definitions: readonly NamedShape[],
  context: TypesContext,
): Promise<ReadonlyMap<string, string>> {
  const path = typesPath(file);
  const imports = new Set<SchemaFile>();
  const inline = new Map<Shape, string>();
  const scope: TypeScope = {
    reference: ({ target }) => {
      const name = context.names.get(target) ?? "unknown";
      if (target.place.file === file) return name;
      imports.add(target.place.file);
      return `${typesAlias(target.place.file)}.${name}`;
    },
    inlineName: (shape) => inline.get(shape),
  };
  const declarations = declarationsOf(definitions, context, inline);
  const source = posix.relative(posix.dirname(path), posix.join(context.schemasFromOut, file.path));
  const blocks: { lines: string[]; declaration: Declaration }[] = [];
  for (const declaration of declarations) blocks.push({ lines: await declare(declaration, scope), declaration });
  const top = [header(file.display), ...importLines(path, imports), ""].join("\n").split("\n");
  const mappings: Mapping[] = [];
  const lines = [...top];
  for (const { lines: block, declaration } of blocks) {
    mappings.push(...mappingsOf({ block, declaration, scope, source, from: lines.length }));
    lines.push(...block, "");
  }
  // A module without an export would be a script, and its types global.
  if (declarations.length === 0) lines.push("export {};");
  lines[lines.length - 1] = `//# sourceMappingURL=${posix.basename(path)}.d.ts.map`;
  const text = sourceText((writer) => writer.write(`${lines.join("\n")}\n`));
  return new Map([
    [`${path}.d.ts`, text],
    [`${path}.d.ts.map`, sourceMapText(`${posix.basename(path)}.d.ts`, mappings)],
    [`${path}.js`, `${header(file.display)}\nexport {};\n`],
  ]);
}

function declarationsOf(
  definitions: readonly NamedShape[],
  context: TypesContext,
  inline: Map<Shape, string>,
): Declaration[] {
  const taken = new Set(definitions.map((definition) => context.names.get(definition) ?? ""));
  // In the order of the file's places, so that the order of use elsewhere changes nothing.
  const sorted = [...definitions].sort((a, b) => compareText(a.place.pointer, b.place.pointer));
  return sorted.flatMap((definition) => {
    const { shape, place } = definition;
    const name = context.names.get(definition);
    if (shape === undefined || name === undefined) return [];
    const before = inline.size;
    nameInlineObjects({ name, shape, taken, names: inline });
    const inner = [...inline].slice(before).map(([own, inlineName]) => {
      return { name: inlineName, shape: own, place: own.kind === "object" ? own.place : place };
    });
    return [{ name, shape, place }, ...inner];
  });
}

async function declare(declaration: Declaration, scope: TypeScope): Promise<string[]> {
  const { place, name } = declaration;
  const value = valueAt(place.file.json.value, place.pointer);
  const description =
    isSchemaObject(value) && typeof value.description === "string" ? docText(value.description).trim() : "";
  const schema = typeSchema(declaration.shape, scope, true);
  const text = await declarationText(description === "" ? schema : { ...schema, description });
  return tidyDeclaration(text).map((line) => line.replace(/^export (interface|type) T /, `export $1 ${name} `));
}

function importLines(path: string, imports: ReadonlySet<SchemaFile>): string[] {
  return [...imports]
    .sort((a, b) => compareText(a.path, b.path))
    .map((file) => {
      const relative = posix.relative(posix.dirname(path), typesPath(file));
      const specifier = relative.startsWith(".") ? relative : `./${relative}`;
      return `import type * as ${typesAlias(file)} from ${JSON.stringify(`${specifier}.js`)};`;
    });
}

// The keys of a shape in the order in which they are printed; the lines are matched against them.
function keysOf(shape: Shape, scope: TypeScope, top: boolean): { key: string; place: Place }[] {
  if (!top && scope.inlineName(shape) !== undefined) return [];
  if (shape.kind === "union") return shape.members.flatMap((member) => keysOf(member, scope, false));
  if (shape.kind === "array") return [...shape.prefix, shape.rest].flatMap((item) => keysOf(item, scope, false));
  if (shape.kind !== "object") return [];
  return [...shape.properties].flatMap(([key, property]) => [
    ...(property.place === undefined ? [] : [{ key, place: property.place }]),
    ...keysOf(property.shape, scope, false),
  ]);
}

function mappingsOf(of: {
  block: readonly string[];
  declaration: Declaration;
  scope: TypeScope;
  source: string;
  from: number;
}): Mapping[] {
  const { declaration, source } = of;
  const keys = keysOf(declaration.shape, of.scope, true);
  const mappings: Mapping[] = [];
  let next = 0;
  let inComment = false;
  for (const [index, line] of of.block.entries()) {
    const start = line.length - line.trimStart().length;
    const comment = inComment || line.startsWith("/**", start);
    if (comment) {
      inComment = !line.endsWith("*/");
      continue;
    }
    const at = (place: Place, column: number) =>
      mappings.push({ line: of.from + index, column, source, position: place.file.json.positionOf(place.pointer) });
    const head = /^export (?:interface|type) /.exec(line)?.[0];
    if (head !== undefined) {
      at(declaration.place, head.length);
      continue;
    }
    const found = keys.findIndex(({ key }, position) => position >= next && startsWithKey(line, start, key));
    const match = keys[found];
    if (match === undefined) continue;
    // A property may come from a definition in another file, whose map this is not.
    if (match.place.file === declaration.place.file) at(match.place, start);
    next = found + 1;
  }
  return mappings;
}

function startsWithKey(line: string, start: number, key: string): boolean {
  return [key, JSON.stringify(key)].some(
    (text) => line.startsWith(text, start) && /^\??:/.test(line.slice(start + text.length)),
  );
}
