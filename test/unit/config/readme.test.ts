import { expect, test } from "bun:test";
import { join } from "node:path";
import { environmentName, PLANS, SETTINGS_BY_KEY } from "../../../src/config/settings.ts";

const BEGIN = "<!-- settings: kept equal to src/config/settings.ts by test/unit/config/readme.test.ts -->";
const END = "<!-- /settings -->";

test("the README lists every setting with its variable and default", async () => {
  const readme = await Bun.file(join(import.meta.dir, "../../../README.md")).text();
  const section = readme.slice(readme.indexOf(BEGIN) + BEGIN.length, readme.indexOf(END)).trim();
  expect(section).toBe(settingsTables());
});

function settingsTables(): string {
  const rows = [...SETTINGS_BY_KEY]
    .filter(([key]) => !key.startsWith("plans."))
    .map(
      ([key, setting]) =>
        `| \`${key}\` | \`${environmentName(key)}\` | ${code(setting.show(setting.default))} | ${setting.help.replaceAll("|", "\\|")} |`,
    );
  const planRows = [...SETTINGS_BY_KEY.keys()]
    .filter((key) => key.startsWith("plans.free."))
    .map((key) => key.slice("plans.free.".length))
    .map((suffix) => {
      const defaults = PLANS.map((plan) => {
        const setting = SETTINGS_BY_KEY.get(`plans.${plan}.${suffix}`);
        return setting === undefined ? "missing" : setting.show(setting.default);
      });
      const variable = environmentName(`plans.free.${suffix}`).replace("_FREE_", "_FREE\\|PRO\\|ENTERPRISE_");
      return `| \`plans.….${suffix}\` | \`${variable}\` | ${defaults.join(" | ")} |`;
    });
  return [
    "| key | variable | default | meaning |",
    "|---|---|---|---|",
    ...rows,
    "",
    "The numbers of the plans. Limits are requests per hour, of sign-ins per minute.",
    "",
    "| key | variable | free | pro | enterprise |",
    "|---|---|---|---|---|",
    ...planRows,
  ].join("\n");
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}
