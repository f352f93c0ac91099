/** The whole generator on one screen: load -> known already? -> model and emit -> write or compare. */
import { openValidatorCompiler } from "./emit/validator-compiler.js";
import { loadSchemas } from "./load.js";
import type { Problem } from "./problem.js";
import { type ProjectFolders, projectPaths } from "./project-paths.js";
import { inputFingerprint, readRun, recordRun } from "./run-record.js";
import { compareOutput, type Difference, writeOutput } from "./write.js";

/** Where to read and write. */
export interface GenerateOptions extends ProjectFolders {
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
  const fingerprint = await inputFingerprint(loaded, paths);
  // A check looks at everything anew: it is what a build trusts.
  const known = options.check === true ? undefined : await readRun(paths, fingerprint);
  if (known !== undefined) return known;
  const compiler = openValidatorCompiler(loaded);
  // The compilers behind this import take longer to load than an unchanged project takes to recognise.
  const { emit } = await import("./emit.js");
  const parse = options.check === true ? "all" : "odd";
  const { files, queues, remarks } = await emit(loaded, paths, { compiler, parse });
  const difference = await (options.check === true ? compareOutput : writeOutput)(paths.out, files);
  const result = { ...difference, queues, remarks };
  if (options.check !== true) await recordRun(paths, { fingerprint, files: [...files.keys()], queues, remarks });
  return result;
}
