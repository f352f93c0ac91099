/** The whole generator on one screen: load -> model -> emit each output -> write or compare. */
import { relative, resolve, sep } from "node:path";
import { clientModule } from "./emit/client.js";
import { queuesModule, validatorsPath } from "./emit/queues.js";
import { typesModule } from "./emit/types.js";
import { validatorsDeclarations, validatorsModule } from "./emit/validators.js";
import { type LoadedSchemas, loadSchemas, type SchemaFile } from "./load.js";
import { buildModel, type Model } from "./model.js";
import { CodegenError, type Problem } from "./problem.js";
import { compareOutput, type Difference, writeOutput } from "./write.js";

/** Where to read and write. */
export interface GenerateOptions {
  /** The project; paths in messages and headers are relative to it. Default: the working folder. */
  readonly cwd?: string;
  /** The schema folder, relative to the project. Default `schemas`. */
  readonly schemas?: string;
  /** The output folder, relative to the project. Default `generated`. */
  readonly out?: string;
  /** Compare only; write nothing. */
  readonly check?: boolean;
}

/** What a run did, or, with `check`, would do. */
export interface GenerateResult extends Difference {
  readonly queues: number;
  /** Remarks that stop nothing. */
  readonly remarks: readonly Problem[];
}

/** Generates the client of a project. @throws CodegenError with every problem of every file; nothing is written then. */
export async function generate(options: GenerateOptions = {}): Promise<GenerateResult> {
  const paths = projectPaths(options);
  const loaded = await loadSchemas({ directory: paths.schemas, display: paths.display });
  const { files, queues, remarks } = await emit(loaded, paths);
  const difference = await (options.check === true ? compareOutput : writeOutput)(paths.out, files);
  return { ...difference, queues, remarks };
}

/** Where things are, for the emitters. */
export interface ProjectPaths {
  readonly schemas: string;
  readonly out: string;
  /** The schema folder's name in texts. */
  readonly display: string;
  /** The schema folder as seen from the output folder. */
  readonly schemasFromOut: string;
}

/** The folders of a project, absolute and as they are named in texts. */
export function projectPaths(options: GenerateOptions): ProjectPaths {
  const cwd = resolve(options.cwd ?? ".");
  const schemas = resolve(cwd, options.schemas ?? "schemas");
  const out = resolve(cwd, options.out ?? "generated");
  return { schemas, out, display: slashed(relative(cwd, schemas)), schemasFromOut: slashed(relative(out, schemas)) };
}

/** Every output file by its path below the output folder. Pure: the same schemas give the same bytes. */
export async function emit(
  loaded: LoadedSchemas,
  paths: Pick<ProjectPaths, "display" | "schemasFromOut">,
): Promise<{ files: ReadonlyMap<string, string>; queues: number; remarks: readonly Problem[] }> {
  const model = buildModel(loaded);
  const errors = model.problems.filter((problem) => problem.severity === "error");
  if (errors.length > 0) throw new CodegenError(errors);
  const files = new Map<string, string>();
  const add = (more: ReadonlyMap<string, string>) => {
    for (const [path, text] of more) files.set(path, text);
  };
  for (const [file, definitions] of definitionsByFile(model)) {
    add(await typesModule(file, definitions, { names: model.typeNames, schemasFromOut: paths.schemasFromOut }));
  }
  for (const queue of model.queues) {
    files.set(`${validatorsPath(queue)}.js`, validatorsModule(queue));
    files.set(`${validatorsPath(queue)}.d.ts`, validatorsDeclarations(queue));
  }
  add(queuesModule(model.queues, paths.display));
  add(clientModule(model.queues, { schemas: paths.display, schemasFromOut: paths.schemasFromOut }));
  return { files, queues: model.queues.length, remarks: model.problems };
}

function definitionsByFile(model: Model): Map<SchemaFile, Model["definitions"][number][]> {
  const byFile = new Map<SchemaFile, Model["definitions"][number][]>();
  for (const definition of model.definitions) {
    const { file } = definition.place;
    byFile.set(file, [...(byFile.get(file) ?? []), definition]);
  }
  return byFile;
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
