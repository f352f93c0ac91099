/** The queues that codegen has written into a project. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { QueueDefinition } from "../queue/queue.js";
import { QueueRegistry } from "../queue/registry.js";

/**
 * @param folder - as on the command line
 * @throws PostriderError `ERR_QUEUE_UNDECLARED` with near names
 */
export async function generatedQueue(folder: string, name: string): Promise<QueueDefinition> {
  const path = join(resolve(folder), "queues.js");
  if (!existsSync(path)) {
    throw new Error(
      `there is no ${join(folder, "queues.js")}: run \`npx postrider codegen\`, or say --generated <folder>`,
    );
  }
  const { queues } = (await import(pathToFileURL(path).href)) as { readonly queues: readonly QueueDefinition[] };
  const registry = new QueueRegistry();
  for (const definition of queues) registry.add(definition);
  return queues.find(({ identifier }) => identifier === name) ?? registry.get(name);
}
