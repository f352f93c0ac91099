/** The other core: compiles the validators it is given and sends them back. */
import { parentPort, workerData } from "node:worker_threads";
import { compileValidators, type ValidatorsSource } from "./validators.js";

parentPort?.postMessage(compileValidators(workerData as readonly ValidatorsSource[]));
