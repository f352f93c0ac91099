/** Where a project's schemas and generated files are, absolute and as they are named in texts. */
import { relative, resolve, sep } from "node:path";

/** Folders relative to a project. */
export interface ProjectFolders {
  /** The project; paths in messages and headers are relative to it. Default: the working folder. */
  readonly cwd?: string;
  /** The schema folder. Default `schemas`. */
  readonly schemas?: string;
  /** The output folder. Default `generated`. */
  readonly out?: string;
}

/** Where things are, for the loader and the emitters. */
export interface ProjectPaths {
  readonly cwd: string;
  readonly schemas: string;
  readonly out: string;
  /** The schema folder's name in texts. */
  readonly display: string;
  /** The schema folder as seen from the output folder. */
  readonly schemasFromOut: string;
}

/** Resolves the folders of a project. */
export function projectPaths(folders: ProjectFolders): ProjectPaths {
  const cwd = resolve(folders.cwd ?? ".");
  const schemas = resolve(cwd, folders.schemas ?? "schemas");
  const out = resolve(cwd, folders.out ?? "generated");
  return {
    cwd,
    schemas,
    out,
    display: slashed(relative(cwd, schemas)),
    schemasFromOut: slashed(relative(out, schemas)),
  };
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
