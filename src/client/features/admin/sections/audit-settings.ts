import { defineText } from "../../../base/text.ts";
import { formatList } from "../../../base/format.ts";
import { planName } from "../../../base/plan-names.ts";
import { text as settingsText } from "../settings/text.ts";

const text = defineText("admin-audit-settings", {
  one: "{who} changed “{setting}”: {change}",
  several: "{who} changed {settings}",
  many: "{who} changed {n, plural, one {# setting} other {# settings}}",
  quoted: "“{setting}”",
  ofPlan: "{setting} ({plan})",
  days: "{n, plural, one {# day} other {# days}}",
  hours: "{n, plural, one {# hour} other {# hours}}",
  minutes: "{n, plural, one {# minute} other {# minutes}}",
  none: "no limit",
  on: "on",
  off: "off",
});

/** More settings than this are counted, not named. */
const NAMED_MAX = 3;

/**
 * The sentence of a change of settings.
 * @param details each changed setting with `old value → new value`, as the audit log records it
 */
export function describeSettings(who: string, details: Readonly<Record<string, unknown>>): string | undefined {
  const changes = Object.entries(details);
  const [first, ...others] = changes;
  if (first === undefined) return undefined;
  if (others.length === 0)
    return text.one({ who, setting: labelOf(first[0]), change: describeChange(first[0], String(first[1])) });
  if (changes.length > NAMED_MAX) return text.many({ who, n: changes.length });
  const names = changes.map(([key]) => text.quoted({ setting: labelOf(key) }));
  return text.several({ who, settings: formatList(names) });
}

/** `plans.free.quota` as "Storage quota (Free)". */
function labelOf(key: string): string {
  const [, plan, limit, setting] = /^plans\.([a-z]+)\.(limit\.)?([a-zA-Z]+)$/.exec(key) ?? [];
  if (plan === undefined || setting === undefined) return settingsText.labels(key);
  const name = limit === undefined ? settingsText.labels(setting) : settingsText.categories(setting);
  return text.ofPlan({ setting: name, plan: planName(plan) });
}

function describeChange(key: string, change: string): string {
  return change
    .split(" → ")
    .map((value) => describeValue(key, value))
    .join(" → ");
}

function describeValue(key: string, value: string): string {
  if (key === "defaultPlan") return planName(value);
  const [, count, unit] = /^(\d+)([dhm])$/.exec(value) ?? [];
  if (unit === "d") return text.days({ n: Number(count) });
  if (unit === "h") return text.hours({ n: Number(count) });
  if (unit === "m") return text.minutes({ n: Number(count) });
  if (value === "none" && key.startsWith("plans.")) return text.none;
  if (value === "true" || value === "on") return text.on;
  if (value === "false" || value === "off") return text.off;
  return settingsText.choices(`${key}.${value}`, value);
}
