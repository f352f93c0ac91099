/** Collects problems at places in schema files. */
import type { Place, SchemaFile } from "./load.js";
import type { Problem } from "./problem.js";

/** What a rule says, beside its place. */
export interface Finding {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  readonly also?: string;
  readonly severity?: "error" | "info";
}

/** Takes findings and turns pointers into lines. */
export class Report {
  readonly problems: Problem[] = [];

  add(place: Place, finding: Finding): void {
    const { severity = "error", ...rest } = finding;
    const position = place.file.json.positionOf(place.pointer);
    this.problems.push({ severity, file: place.file.display, ...position, ...rest });
  }

  get failed(): boolean {
    return this.problems.some((problem) => problem.severity === "error");
  }

  /** Whether a file has an error: what depends on its being sound is then left undone. */
  blames(file: SchemaFile): boolean {
    return this.problems.some((problem) => problem.severity === "error" && problem.file === file.display);
  }
}

/** `file:line:column` of a place, for texts that name a second one. */
export function placeText(place: Place): string {
  const { line, column } = place.file.json.positionOf(place.pointer);
  return `${place.file.display}:${line}:${column}`;
}
