/** Whether the messages of a queue's schedules are messages of the queue, told at their place. */
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { validationOptions } from "./emit/validators.js";
import type { SchemaFile } from "./load.js";
import type { QueueModel } from "./model.js";
import type { Report } from "./report.js";
import { placeOfSetting } from "./settings.js";
import { publishSchema } from "./variants/publish-schema.js";

export function checkScheduleMessages(
  queues: readonly QueueModel[],
  files: ReadonlyMap<string, SchemaFile>,
  report: Report,
): void {
  for (const queue of queues) {
    const { schedule } = queue.settings;
    if (schedule === undefined) continue;
    const validate = compiled(queue);
    for (const [index, { message }] of schedule.entries()) {
      if (validate(message)) continue;
      // The last error is the outermost one: a union's own, after those inside it.
      const { instancePath = "", message: why = "does not fit" } = validate.errors?.at(-1) ?? {};
      const place = placeOfSetting(queue.file, files, `/schedule/${index}/message${instancePath}`);
      const where = instancePath === "" ? "the message" : `the message at ${instancePath}`;
      report.add(place, { rule: "x-queue", message: `schedule: ${where} ${why}` });
    }
  }
}

function compiled({ bundle }: QueueModel) {
  const ajv = new (bundle.dialect === "2020-12" ? Ajv2020 : Ajv2019)({
    ...validationOptions,
    validateSchema: false,
    meta: false,
    logger: false,
  });
  addFormats.default(ajv);
  return ajv.compile(publishSchema(bundle) as object);
}
