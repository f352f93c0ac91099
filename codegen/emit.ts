/** Every output file of a set of schemas. Pure: the same schemas give the same bytes. */
import { clientModule } from "./emit/client.js";
import { queuesModule, validatorsDeclarations, validatorsPath } from "./emit/queues.js";
import { refuseUnparsed } from "./emit/syntax.js";
import { typesModule } from "./emit/types.js";
import { openValidatorCompiler, type ValidatorCompiler } from "./emit/validator-compiler.js";
import type { CompiledValidators } from "./emit/validators.js";
import type { LoadedSchemas, SchemaFile } from "./load.js";
import { buildModel, type Model } from "./model.js";
import { CodegenError, type Problem } from "./problem.js";
import type { ProjectPaths } from "./project-paths.js";
import { Report } from "./report.js";
import { checkScheduleMessages } from "./schedule-messages.js";

/** What a run gives: every output file by its path below the output folder. */
export interface Emitted {
  readonly files: ReadonlyMap<string, string>;
  readonly queues: number;
  readonly remarks: readonly Problem[];
}

/** How a set of schemas is emitted. */
export interface EmitOptions {
  /** Closed at the end. */
  readonly compiler?: ValidatorCompiler;
  /** Which declarations are parsed before they are handed out: `all` (default), or those with odd words of a schema. */
  readonly parse?: "all" | "odd";
}

/** Emits everything. @throws CodegenError with every problem of every file */
export async function emit(
  loaded: LoadedSchemas,
  paths: Pick<ProjectPaths, "display" | "schemasFromOut">,
  options: EmitOptions = {},
): Promise<Emitted> {
  const { compiler = openValidatorCompiler(loaded), parse = "all" } = options;
  try {
    // On its way while shapes and types are made: with many queues it runs on another core.
    const model = buildModel(loaded, (bundles) => compiler.begin(bundles));
    const errors = model.problems.filter((problem) => problem.severity === "error");
    if (errors.length > 0) throw new CodegenError(errors);
    const emitted = await emitModel(model, loaded.files, compiler, paths);
    for (const [path, text] of emitted.files) refuseUnparsed(path, text, parse);
    return emitted;
  } finally {
    await compiler.close();
  }
}

async function emitModel(
  model: Model,
  schemas: ReadonlyMap<string, SchemaFile>,
  compiler: ValidatorCompiler,
  paths: Pick<ProjectPaths, "display" | "schemasFromOut">,
): Promise<Emitted> {
  const files = new Map<string, string>();
  const add = (more: ReadonlyMap<string, string>) => {
    for (const [path, text] of more) files.set(path, text);
  };
  for (const [file, definitions] of definitionsByFile(model)) {
    add(await typesModule(file, definitions, { names: model.typeNames, schemasFromOut: paths.schemasFromOut }));
  }
  add(queuesModule(model.queues, paths.display));
  add(clientModule(model.queues, { schemas: paths.display, schemasFromOut: paths.schemasFromOut }));
  const compiled = await compiler.finish();
  refuseUncompiled(model, compiled);
  refuseScheduleMessages(model, schemas);
  for (const queue of model.queues) {
    files.set(`${validatorsPath(queue)}.js`, compiled.get(queue.file.path)?.text ?? "");
    files.set(`${validatorsPath(queue)}.d.ts`, validatorsDeclarations(queue));
  }
  return { files, queues: model.queues.length, remarks: model.problems };
}

// The profile is meant to refuse first; whatever ajv refuses beyond it is told at the file.
function refuseUncompiled(model: Model, compiled: ReadonlyMap<string, CompiledValidators>): void {
  const report = new Report();
  for (const { file } of model.queues) {
    const fault = compiled.get(file.path)?.fault;
    if (fault !== undefined) report.add({ file, pointer: "" }, { rule: "ajv", message: fault });
  }
  if (report.failed) throw new CodegenError(report.problems);
}

function refuseScheduleMessages(model: Model, schemas: ReadonlyMap<string, SchemaFile>): void {
  const report = new Report();
  checkScheduleMessages(model.queues, schemas, report);
  if (report.failed) throw new CodegenError(report.problems);
}

function definitionsByFile(model: Model): Map<SchemaFile, Model["definitions"][number][]> {
  const byFile = new Map<SchemaFile, Model["definitions"][number][]>();
  for (const definition of model.definitions) {
    const { file } = definition.place;
    byFile.set(file, [...(byFile.get(file) ?? []), definition]);
  }
  return byFile;
}
