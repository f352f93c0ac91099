/** A schema document as the gate looks at it: references followed, parts compiled when a value must be judged. */
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { canonicalJson } from "../bundle.js";
import { validationOptions } from "../emit/validators.js";
import { valueAt } from "../pointer.js";
import { type Dialect, isSchemaObject, type SchemaObject } from "../schema.js";

/** One side of a comparison. */
export class SchemaDocument {
  readonly root: unknown;
  readonly #definitions: unknown;
  /** Decides which keywords count. */
  readonly dialect: Dialect;
  readonly #compiled = new Map<string, (value: unknown) => boolean>();

  constructor(root: unknown, dialect: Dialect) {
    this.root = root;
    this.dialect = dialect;
    this.#definitions = isSchemaObject(root) ? root.$defs : undefined;
  }

  /** What a local reference leads to. */
  resolve(ref: string): unknown {
    return ref === "#" ? this.root : valueAt(this.root, decodeURIComponent(ref.slice(1)));
  }

  /** Whether every one of these schemas of the document accepts a value. */
  accepts(schemas: readonly unknown[], value: unknown): boolean {
    return this.errorOf(schemas, value) === undefined;
  }

  /** The first error about a value; `undefined` when it fits. */
  errorOf(schemas: readonly unknown[], value: unknown): { instancePath: string; keyword: string } | undefined {
    const key = schemas.map(canonicalJson).join("\n");
    let validate = this.#compiled.get(key) as ReturnType<SchemaDocument["compile"]> | undefined;
    if (validate === undefined) {
      validate = this.compile(schemas);
      this.#compiled.set(key, validate);
    }
    if (validate(value)) return undefined;
    const error = validate.errors?.at(-1);
    return { instancePath: error?.instancePath ?? "", keyword: error?.keyword ?? "" };
  }

  /** Compiles a conjunction of parts. */
  compile(schemas: readonly unknown[]) {
    const ajv = new (this.dialect === "2020-12" ? Ajv2020 : Ajv2019)({
      ...validationOptions,
      strict: false,
      validateSchema: false,
      inlineRefs: false,
      logger: false,
    });
    addFormats.default(ajv);
    // The root stays the root, so that `#` in a part still means it.
    const own = schemas.length === 1 && schemas[0] === this.root ? this.root : this.#asPart(schemas);
    return ajv.compile(own as SchemaObject);
  }

  #asPart(schemas: readonly unknown[]): SchemaObject {
    const $defs = isSchemaObject(this.#definitions) ? this.#definitions : {};
    const key = "root:";
    const rebased = JSON.parse(
      JSON.stringify({ allOf: schemas, $defs: { ...$defs, [key]: this.root } }).replaceAll(
        '"$ref":"#"',
        `"$ref":"#/$defs/${key}"`,
      ),
    ) as SchemaObject;
    return rebased;
  }
}
