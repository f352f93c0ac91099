/** The pages of `docs/` that nobody writes by hand. */
import { errorsPage } from "./errors-page.js";
import { queueSettingsPage } from "./queue-settings-page.js";

/** Their names and texts. */
export function printedPages(): Readonly<Record<string, string>> {
  return { "errors.md": errorsPage(), "queue-settings.md": queueSettingsPage() };
}
