/** The other core: compiles the validators it is sent and sends them back. */
import { parentPort } from "node:worker_threads";
import { compileValidators, type ValidatorsSource } from "./validators.js";

parentPort?.on("message", (sources: readonly ValidatorsSource[]) => {
  parentPort?.postMessage(compileValidators(sources));
});
