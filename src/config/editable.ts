/** The settings that administrators can change while the server runs. Their values are stored in the database. */
import { isRateLimit, SETTINGS_BY_KEY } from "./settings.ts";

/** The groups of the page that edits the settings. */
export const SETTING_GROUPS = ["signup", "plans", "rates", "retention", "search", "mail"] as const;

/** One of {@link SETTING_GROUPS}. */
export type SettingGroup = (typeof SETTING_GROUPS)[number];

/** The settings that name the mail server. They change together: see `fixedBy` of the configuration. */
export const MAIL_SERVER_KEYS: readonly string[] = ["mail.host", "mail.port", "mail.secure"];

/** The settings that belong to a mail server, and are never changed here. */
export const MAIL_SERVER_SECRETS: readonly string[] = ["mail.password", "mail.passwordFile", "mail.caFile"];

const SINGLE: Readonly<Record<string, SettingGroup>> = {
  signup: "signup",
  defaultPlan: "signup",
  showPeople: "signup",
  rateLimits: "rates",
  rateLimitScale: "rates",
  "trash.keep": "retention",
  "versions.keep": "retention",
  "versions.maxAge": "retention",
  "search.content": "search",
  "mail.host": "mail",
  "mail.port": "mail",
  "mail.secure": "mail",
  "mail.user": "mail",
  "mail.from": "mail",
  "mail.verify": "mail",
};

/**
 * The group of a setting; undefined if it can't be changed in the page. An allow-list: secrets, paths, addresses,
 * proxies, and everything that decides who gets in stay with the operator of the machine. So do the limits of sign-ins,
 * since the one of `free` is also the limit of wrong passwords.
 */
export function groupOf(key: string): SettingGroup | undefined {
  if (Object.hasOwn(SINGLE, key)) return SINGLE[key];
  if (/^plans\.\w+\.(maxFileSize|quota|maxNodes|devices)$/.test(key)) return "plans";
  return isRateLimit(key) && !key.endsWith(".signin") ? "rates" : undefined;
}

/** Whether administrators can store a value for a setting. */
export function isEditable(key: string): boolean {
  return groupOf(key) !== undefined;
}

/** All settings that administrators can change, in the order of the table. */
export const EDITABLE_KEYS: readonly string[] = [...SETTINGS_BY_KEY.keys()].filter(isEditable);
