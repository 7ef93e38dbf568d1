/** A user's settings: the defaults, and how a change is merged in. */
import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import { chooseAvailable } from "../../../translations/languages.ts";

/** The hours in which notifications are deferred. Times are HH:MM in `timezone`. */
export interface QuietHours {
  readonly enabled: boolean;
  readonly start: string;
  readonly end: string;
  readonly timezone: string;
}

/** Which of the four categories of notifications the user wants. */
export interface NotificationPreferences {
  readonly uploads: boolean;
  readonly shares: boolean;
  readonly storage: boolean;
  readonly security: boolean;
  readonly quietHours: QuietHours;
}

/** GET /api/users/settings. */
export interface Settings {
  readonly language: string;
  readonly timezone: string;
  readonly theme: "system" | "light" | "dark";
  readonly defaultView: "list" | "grid";
  readonly notifications: NotificationPreferences;
  /** How many earlier versions of a file are retained. */
  readonly versioning: { readonly keep: number };
  /** Whether the pages of links name this person. */
  readonly showNameToGuests: boolean;
}

/** Any part of T, at any depth. */
type PartOf<T> = { readonly [K in keyof T]?: (T[K] extends object ? PartOf<T[K]> : T[K]) | undefined };

/** Any part of the preferences, at any depth. */
export type NotificationChange = PartOf<NotificationPreferences>;

/** The body of PUT /api/users/settings. */
export type SettingsChange = PartOf<Settings>;

/** What is stored: the settings that were ever set, and the pins. */
type StoredSettings = SettingsChange & { readonly pins?: readonly string[] };

const DEFAULTS: Settings = {
  language: "en",
  timezone: "UTC",
  theme: "system",
  defaultView: "list",
  notifications: {
    uploads: true,
    shares: true,
    storage: true,
    security: true,
    quietHours: { enabled: false, start: "22:00", end: "07:00", timezone: "UTC" },
  },
  versioning: { keep: 10 },
  showNameToGuests: true,
};

/**
 * The effective settings, from the stored JSON of those that were ever set.
 * @param keep how many earlier versions are retained unless the user has set a number
 */
export function readSettings(json: string, keep = DEFAULTS.versioning.keep): Settings {
  return merge({ ...DEFAULTS, versioning: { keep } }, parse(json));
}

/** The language of texts for the user: that of the settings if texts are translated to it, else English. */
export function readLanguage(json: string): string {
  return chooseAvailable([readSettings(json).language]);
}

/** The stored JSON with the language of the user's browser, if the user has no language yet. */
export function withFirstLanguage(json: string, language: string): string {
  const stored = parse(json);
  return stored.language === undefined ? JSON.stringify({ ...stored, language }) : json;
}

/** The stored JSON after a change. @throws AppError invalid_field for an unknown language tag or time zone */
export function changeSettings(json: string, change: SettingsChange): string {
  if (change.language !== undefined) checkLanguage(change.language);
  if (change.timezone !== undefined) checkTimeZone(change.timezone, "timezone");
  const zone = change.notifications?.quietHours?.timezone;
  if (zone !== undefined) checkTimeZone(zone, "notifications.quietHours.timezone");
  // Settings that the user has not set are not stored: the configuration may change their defaults.
  const stored = parse(json);
  const keep = change.versioning?.keep ?? stored.versioning?.keep;
  const versioning = keep === undefined ? undefined : { keep };
  // Not the default: the next sign-in stores the language of the browser.
  const language = change.language ?? stored.language;
  const pins = readPins(json);
  return JSON.stringify({
    ...merge(readSettings(json), change),
    language,
    versioning,
    ...(pins.length > 0 && { pins }),
  });
}

/** Most folders and albums that an account can pin. */
export const PINS_MAX = 50;

/** The ids of the folders and albums that the account pinned, in order. They are stored among its settings. */
export function readPins(json: string): readonly string[] {
  return parse(json).pins ?? [];
}

/** The stored JSON with other pins. */
export function changePins(json: string, change: (pins: readonly string[]) => readonly string[]): string {
  return JSON.stringify({ ...parse(json), pins: change(readPins(json)) });
}

function parse(json: string): StoredSettings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by changeSettings and changePins alone
  return JSON.parse(json) as StoredSettings;
}

function merge(base: Settings, change: SettingsChange): Settings {
  return {
    language: change.language ?? base.language,
    timezone: change.timezone ?? base.timezone,
    theme: change.theme ?? base.theme,
    defaultView: change.defaultView ?? base.defaultView,
    notifications: mergeNotifications(base.notifications, change.notifications ?? {}),
    versioning: { keep: change.versioning?.keep ?? base.versioning.keep },
    showNameToGuests: change.showNameToGuests ?? base.showNameToGuests,
  };
}

/** Preferences after a change; absent ones stay. */
export function mergeNotifications(base: NotificationPreferences, change: NotificationChange): NotificationPreferences {
  const { quietHours = {} } = change;
  return {
    uploads: change.uploads ?? base.uploads,
    shares: change.shares ?? base.shares,
    storage: change.storage ?? base.storage,
    security: change.security ?? base.security,
    quietHours: {
      enabled: quietHours.enabled ?? base.quietHours.enabled,
      start: quietHours.start ?? base.quietHours.start,
      end: quietHours.end ?? base.quietHours.end,
      timezone: quietHours.timezone ?? base.quietHours.timezone,
    },
  };
}

function checkTimeZone(zone: string, field: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone }).format();
  } catch {
    throw invalidField(
      field,
      say`${JSON.stringify(zone)} is not a valid time zone. Use an IANA name, such as Europe/Berlin.`,
    );
  }
}

function checkLanguage(tag: string): void {
  try {
    Intl.getCanonicalLocales(tag);
  } catch {
    throw invalidField(
      "language",
      say`${JSON.stringify(tag)} is not a valid language tag. Use a tag such as en or pt-BR.`,
    );
  }
}
