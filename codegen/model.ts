/** Schemas in, queues out: what the emitters write down. Nothing here touches the disk. */
import type { QueueSettings } from "../src/queue/queue.js";
import { type Bundle, bundleDocument, bundleSchema, schemaHash } from "./bundle.js";
import { checkDialects, dialectOf } from "./dialect.js";
import type { LoadedSchemas, Place, SchemaFile } from "./load.js";
import { type Problem, sortProblems } from "./problem.js";
import { checkProfile } from "./profile.js";
import { checkNames, queueNames } from "./queue-names.js";
import { checkReferenceCycles } from "./reference-cycles.js";
import { Report } from "./report.js";
import { readQueueOptions } from "./settings.js";
import { Normaliser } from "./shape/normaliser.js";
import type { NamedShape } from "./shape/shape.js";
import { typeNames } from "./type-names.js";

/** One queue, ready to be written. */
export interface QueueModel {
  readonly file: SchemaFile;
  readonly name: string;
  readonly identifier: string;
  readonly typeName: string;
  readonly settings: QueueSettings;
  readonly bundle: Bundle;
  /** The schema as the registry records it. */
  readonly document: unknown;
  readonly schemaHash: string;
  readonly message: NamedShape;
}

/** Everything there is to write, in order of schema path. */
export interface Model {
  readonly queues: readonly QueueModel[];
  /** Every definition that a message reaches, the messages included. */
  readonly definitions: readonly NamedShape[];
  readonly typeNames: ReadonlyMap<NamedShape, string>;
  readonly problems: readonly Problem[];
}

/**
 * Builds the model. With an error among the problems, `queues` holds only what could be built. `onBundles` is called as soon as
 * the schemas may be compiled, which another core can begin with.
 */
export function buildModel(
  loaded: LoadedSchemas,
  onBundles: (bundles: ReadonlyMap<SchemaFile, Bundle>) => void = () => {},
): Model {
  const { files } = loaded;
  const report = new Report();
  report.problems.push(...loaded.problems);
  const schemas = [...files.values()].filter((file) => file.role !== "settings");
  checkDialects(schemas, report);
  for (const file of schemas) checkProfile(file, files, report);
  checkReferenceCycles(files, report);
  const normaliser = report.failed ? undefined : new Normaliser(files, report);
  const bundles = normaliser === undefined ? new Map<SchemaFile, Bundle>() : bundlesOf(schemas, files);
  onBundles(bundles);
  const queues = queuesOf(schemas, (file) =>
    queueModel({ file, files, report, bundle: bundles.get(file), normaliser }),
  );
  checkNames(queues, report);
  const definitions = normaliser?.definitions ?? [];
  const queueTypes = new Map(queues.map((queue) => [queue.file, queue.typeName]));
  const names = typeNames({ definitions, queueTypes, report });
  return { queues, definitions, typeNames: names, problems: sortProblems(report.problems) };
}

/** The queues of schemas that were accepted once, without judging them again: a rule may be younger than a base. */
export function queuesOnly(loaded: LoadedSchemas): QueueModel[] {
  const { files } = loaded;
  const report = new Report();
  return queuesOf([...files.values()], (file) => {
    const bundle = bundleOf(file, files);
    return queueModel({ file, files, report, bundle, normaliser: undefined });
  });
}

function queuesOf(files: readonly SchemaFile[], build: (file: SchemaFile) => QueueModel | undefined): QueueModel[] {
  return files
    .filter((file) => file.role === "queue")
    .map(build)
    .filter((queue) => queue !== undefined);
}

function bundlesOf(schemas: readonly SchemaFile[], files: ReadonlyMap<string, SchemaFile>): Map<SchemaFile, Bundle> {
  return new Map(schemas.filter(({ role }) => role === "queue").map((file) => [file, bundleOf(file, files)]));
}

function bundleOf(file: SchemaFile, files: ReadonlyMap<string, SchemaFile>): Bundle {
  return bundleSchema({ file, files, dialect: dialectOf(file) });
}

// Names and settings are checked even where the schema has faults, so that one run tells everything.
function queueModel(of: {
  file: SchemaFile;
  files: ReadonlyMap<string, SchemaFile>;
  report: Report;
  bundle: Bundle | undefined;
  normaliser: Normaliser | undefined;
}): QueueModel | undefined {
  const { file, files, report, normaliser } = of;
  const options = readQueueOptions(file, files, report);
  const names = queueNames(file, options ?? {}, report);
  if (options === undefined || names === undefined) return undefined;
  const bundle = of.bundle ?? { dialect: dialectOf(file), root: true, definitions: new Map() };
  const document = bundleDocument(bundle);
  const root: Place = { file, pointer: "" };
  return {
    file,
    ...names,
    settings: options.settings,
    bundle,
    document,
    schemaHash: schemaHash(document),
    message: normaliser?.named(root) ?? { place: root },
  };
}
