/**
 * ajv's standalone code as a module that imports from "postrider" alone. ajv's ESM output still calls `require` for its
 * run-time parts (ajv#1976, #2209, #2598), and a strict package manager would not let a user's project see our `ajv`.
 */

/** The run-time parts that validators may call; a test compares them with `validatorParts` of the runtime. */
export const validatorPartNames: ReadonlySet<string> = new Set(["ucs2length", "equal", "formats"]);

// Strings and the regular expressions of formats first: what they say is never taken for code.
const tokens =
  /"(?:[^"\\]|\\.)*"|const formats\d+ = \/.+?\/[a-z]*;|\brequire\("([^"]+)"\)|\b(func\d+)\((data\d*)\) ([<>]) (\d+)|\bschema\d+\b/g;

/** The body of a validators module. @throws Error when ajv's code needs something that postrider does not hand out */
export function validatorModuleBody(code: string): string {
  const uses = new Map<string, number>();
  const body = code.replace(/^"use strict";/, "").replace(tokens, (token, module, count, data, sign, limit) => {
    if (module !== undefined) return partOf(module);
    if (count !== undefined) return quickLength({ counted: token, data, sign, limit: Number(limit) });
    if (token.startsWith("schema")) uses.set(token, (uses.get(token) ?? 0) + 1);
    return token;
  });
  const text = withoutUnusedSchemas(body, uses).trim();
  return `${text.includes("$rt.") ? 'import * as $rt from "postrider";\n' : ""}${text}\n`;
}

function partOf(module: string): string {
  const name = /^(?:ajv|ajv-formats)\/dist\/(?:runtime\/)?(\w+)$/.exec(module)?.[1];
  if (name === undefined || !validatorPartNames.has(name)) {
    throw new Error(`validators need ${module}, which postrider does not hand out`);
  }
  return `$rt.validatorParts.${name}`;
}

// A string has at most as many code points as UTF-16 units, and at least half as many: most strings need no counting.
function quickLength(of: { counted: string; data: string; sign: string; limit: number }): string {
  const { counted, data, sign, limit } = of;
  const may = sign === ">" ? `${data}.length > ${limit}` : `${data}.length < ${limit * 2}`;
  return `(${may} && ${counted})`;
}

// ajv embeds every schema it compiled; most are named nowhere else.
function withoutUnusedSchemas(body: string, uses: ReadonlyMap<string, number>): string {
  let text = "";
  let from = 0;
  for (const declaration of body.matchAll(/const (schema\d+) = /g)) {
    const name = declaration[1] ?? "";
    if (declaration.index < from || (uses.get(name) ?? 0) > 1) continue;
    const end = valueEnd(body, declaration.index + declaration[0].length);
    if (body[end] !== ";") continue;
    text += body.slice(from, declaration.index);
    from = end + 1;
  }
  return text + body.slice(from);
}

// The end of a JSON value in code: its brackets are balanced, strings aside.
function valueEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
    } else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    if (depth === 0 && (text[at + 1] === ";" || text[at + 1] === undefined)) return at + 1;
  }
  return at;
}
