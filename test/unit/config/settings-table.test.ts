import { expect, test } from "bun:test";
import { join } from "node:path";
import { environmentName, SETTINGS_BY_KEY } from "../../../src/config/settings.ts";
import { PLANS } from "../../../src/config/settings/plans.ts";

const BEGIN = "<!-- settings: test/unit/config/settings-table.test.ts compares them with src/config/settings.ts -->";
const END = "<!-- /settings -->";

const PAGE = join(import.meta.dir, "../../../docs/configuration.md");

// LARDER_TEST_UPDATE=1 writes the tables instead.
test("the configuration page lists every setting with its variable and default", async () => {
  const page = await Bun.file(PAGE).text();
  const [begin, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  if (process.env["LARDER_TEST_UPDATE"] === "1") {
    await Bun.write(PAGE, `${page.slice(0, begin)}\n${settingsTables()}\n${page.slice(end)}`);
  } else {
    expect(page.slice(begin, end).trim()).toBe(settingsTables());
  }
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
