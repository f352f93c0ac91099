/** `docs/queue-settings.md`, printed from the schema of `x-queue`. */
import { queueOptionsSchema } from "../src/queue/options.js";

/** The part of JSON Schema that the settings are described in. */
interface Setting {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Setting[];
  readonly properties?: Readonly<Record<string, Setting>>;
  readonly required?: readonly string[];
  readonly items?: Setting;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly description?: string;
}

/** The page's text. */
export function queueSettingsPage(): string {
  return `# Queue settings

What may stand under \`x-queue\` in a queue's schema file; everything is optional. Times are in milliseconds, sizes in bytes. Printed from
\`src/queue/options.ts\` by \`npm run docs\`.

| setting | value | default | meaning |
|---|---|---|---|
${rowsOf(queueOptionsSchema.properties as Readonly<Record<string, Setting>>, "").join("\n")}
`;
}

function rowsOf(settings: Readonly<Record<string, Setting>>, above: string): readonly string[] {
  return Object.entries(settings).flatMap(([key, setting]) => {
    const name = `${above}${key}`;
    const cells = [
      code(name),
      valueText(setting),
      defaultText(setting),
      (setting.description ?? "").replaceAll("|", "\\|"),
    ];
    const inner = [setting, ...(setting.oneOf ?? []), setting.items ?? {}].flatMap(({ properties }) =>
      rowsOf(properties ?? {}, `${name}.`),
    );
    return [`| ${cells.join(" | ")} |`, ...inner];
  });
}

function valueText(setting: Setting): string {
  if (setting.oneOf !== undefined) return setting.oneOf.map(valueText).join(", or ");
  if (setting.enum !== undefined) return setting.enum.map((one) => code(JSON.stringify(one))).join(" or ");
  if (setting.const !== undefined) return code(JSON.stringify(setting.const));
  if (setting.type === "array") return `list of ${valueText(setting.items ?? {})}`;
  const kind =
    setting.type === "integer" ? "whole number" : setting.type === "string" ? "text" : (setting.type ?? "any");
  return `${kind}${boundsOf(setting)}`;
}

function boundsOf({ minimum, maximum, minLength, maxLength }: Setting): string {
  const [low, high] = [minimum ?? minLength, maximum ?? maxLength];
  if (low === undefined) return "";
  const unit = minLength === undefined ? "" : " bytes";
  return high === undefined ? `, at least ${number(low)}${unit}` : `, ${number(low)} to ${number(high)}${unit}`;
}

function defaultText(setting: Setting): string {
  if (setting.default === undefined) return "none";
  const isObject = typeof setting.default === "object" && !Array.isArray(setting.default);
  if (isObject) return "as below";
  return code(typeof setting.default === "number" ? number(setting.default) : JSON.stringify(setting.default));
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function code(text: string): string {
  return `\`${text}\``;
}
