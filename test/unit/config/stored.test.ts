import { expect, test } from "bun:test";
import { EDITABLE_KEYS, isEditable } from "../../../src/config/editable.ts";
import { type ConfigInput, loadConfig } from "../../../src/config/load.ts";
import { SETTINGS_BY_KEY } from "../../../src/config/settings.ts";

const KEY = "plans.free.quota";
const GB = 1024 ** 3;

function withStored(input: Partial<ConfigInput>, stored: Record<string, string>) {
  return loadConfig({ environment: {}, ...input }).withStored(new Map(Object.entries(stored)));
}

test("a stored value has precedence over preset and default, and none over flags and variables", () => {
  const environment = { LARDER_PRESET: "household" };
  const preset = withStored({ environment }, { defaultPlan: "pro", [KEY]: "7GB" });
  expect([preset.config.defaultPlan, preset.sources.get("defaultPlan")]).toEqual(["pro", "stored"]);
  expect(preset.config.plans.free.quotaBytes).toBe(7 * GB);
  const byVariable = withStored({ environment: { LARDER_PLANS_FREE_QUOTA: "1GB" } }, { [KEY]: "7GB" });
  expect([byVariable.config.plans.free.quotaBytes, byVariable.sources.get(KEY)]).toEqual([
    GB,
    "LARDER_PLANS_FREE_QUOTA",
  ]);
  const byFlag = withStored({ flags: { signup: "closed" } }, { signup: "open" });
  expect(byFlag.config.signup).toBe("closed");
});

test("a stored scale multiplies the limits, except those of wrong passwords, which can't be stored", () => {
  const { config } = withStored(
    {},
    { rateLimitScale: "2", "plans.pro.limit.uploads": "7", "plans.free.limit.signin": "99" },
  );
  expect(config.plans.free.limit.uploads).toBe(20);
  expect(config.plans.pro.limit.uploads).toBe(7);
  expect(config.plans.free.limit.signin).toBe(10);
});

test("an invalid or contradicting stored value is ignored and reported", () => {
  const { config, problems } = withStored({}, { signup: "sometimes", "mail.verify": "on", [KEY]: "7GB" });
  expect(config).toMatchObject({ signup: "open", mail: { verify: false } });
  expect(config.plans.free.quotaBytes).toBe(7 * GB);
  expect(problems.map(({ key }) => key)).toEqual(["signup", "mail.verify"]);
});

test("a mail password fixes the server that gets it", () => {
  const environment = { LARDER_MAIL_PASSWORD: "secret" };
  const loaded = loadConfig({ environment });
  expect(["mail.host", "mail.port", "mail.secure", "mail.from"].map((key) => loaded.fixedBy(key))).toEqual([
    "LARDER_MAIL_PASSWORD",
    "LARDER_MAIL_PASSWORD",
    "LARDER_MAIL_PASSWORD",
    undefined,
  ]);
  const { config } = loaded.withStored(new Map([["mail.host", "mail.example.org"]]));
  expect(config.mail.host).toBeNull();
});

test("secrets, paths and addresses are never editable", () => {
  expect(EDITABLE_KEYS.length).toBeGreaterThan(40);
  const forbidden =
    /^(data|preset|admin|trustedProxies|outboundAllow|s3|oidc|tls|host|port|socket|publicUrl|basePath|gcGrace|audit|tokenLifetime)/;
  const found = [...SETTINGS_BY_KEY].filter(
    ([key, { isSecret }]) => isEditable(key) && (isSecret || forbidden.test(key)),
  );
  expect(found).toEqual([]);
});
