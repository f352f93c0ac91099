/** J6: codegen checks a queue's schedules, with the place. */
import assert from "node:assert/strict";
import test from "node:test";
import { generate } from "../../codegen/generate.js";
import { CodegenError } from "../../codegen/problem.js";
import { idSchema, testProject } from "./project.js";

async function problemsOf(schedule: unknown): Promise<readonly string[]> {
  const project = await testProject({ "ticks.json": { ...idSchema, title: "Ticks", "x-queue": { schedule } } });
  try {
    await generate({ cwd: project.cwd });
    return [];
  } catch (error) {
    if (!(error instanceof CodegenError)) throw error;
    return error.problems.map(({ file, line, rule, message }) => `${file}:${line} ${rule} ${message}`);
  } finally {
    await project.remove();
  }
}

test("J6 a schedule's cron, time zone and message are checked at their place", async () => {
  const message = { id: "a" };
  assert.deepEqual(await problemsOf([{ cron: "*/5 * * * *", timeZone: "Europe/Berlin", message }]), []);
  const [cron] = await problemsOf([{ cron: "61 * * * *", message }]);
  assert.match(cron ?? "", /^schemas\/ticks\.json:\d+ x-queue schedule: cron .*minute: 61/);
  const [zone] = await problemsOf([{ cron: "* * * * *", timeZone: "Mars/Base", message }]);
  assert.match(zone ?? "", /x-queue schedule: timeZone must be an IANA time zone/);
  const [type] = await problemsOf([{ cron: "* * * * *", message: { id: 1 } }]);
  assert.match(type ?? "", /x-queue schedule: the message at \/id must be string/);
  const [extra] = await problemsOf([{ cron: "* * * * *", message: { id: "a", more: 1 } }]);
  assert.match(extra ?? "", /x-queue schedule: the message must NOT have additional properties/);
});
