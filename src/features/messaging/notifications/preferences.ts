/** Which messages a device wants, and when not. */
import { invalidField } from "../../../errors.ts";
import {
  mergeNotifications,
  type NotificationChange,
  type NotificationPreferences,
  type QuietHours,
  readSettings,
} from "../../accounts/users/settings.ts";
import type { PushCategory } from "./channels/channel.ts";
import { quietUntil } from "./quiet-hours.ts";

/** What holds for a message at a device, by its preferences alone. */
export type Wish = { readonly is: "wanted" | "muted" } | { readonly is: "held"; readonly untilMs: number };

/**
 * The preferences in force: the device's own, or the user's settings where it registered none.
 * @param stored JSON of the device's own, or null
 * @param userSettings JSON of the user's settings
 */
export function preferencesInForce(stored: string | null, userSettings: string): NotificationPreferences {
  return stored === null ? readSettings(userSettings).notifications : parse(stored);
}

/**
 * The JSON to store after a device's change, merged into what it registered before: at first all is wanted, and no hour
 * is quiet. A change that says nothing leaves it as it was.
 * @throws AppError invalid_field for a time zone that is none
 */
export function mergePreferences(stored: string | null, change: NotificationChange): string | null {
  const zone = change.quietHours?.timezone;
  if (zone !== undefined && !isTimeZone(zone)) {
    throw invalidField(
      "preferences.quietHours.timezone",
      `${JSON.stringify(zone)} is not a valid time zone. Use an IANA name, such as Europe/Berlin.`,
    );
  }
  if (!saysSomething(change)) return stored;
  const before = stored === null ? readSettings("{}").notifications : parse(stored);
  return JSON.stringify(mergeNotifications(before, change));
}

/** Whether a message of this category may be sent now. */
export function wishOf(preferences: NotificationPreferences, category: PushCategory, nowMs: number): Wish {
  if (!preferences[category]) return { is: "muted" };
  const untilMs = quietUntilIfKnown(nowMs, preferences.quietHours);
  return untilMs === undefined ? { is: "wanted" } : { is: "held", untilMs };
}

/** A zone was known when it was given; should the machine not know it any more, better a message at night than none. */
function quietUntilIfKnown(nowMs: number, quietHours: QuietHours): number | undefined {
  try {
    return quietUntil(nowMs, quietHours);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function parse(stored: string): NotificationPreferences {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by mergePreferences alone
  return JSON.parse(stored) as NotificationPreferences;
}

function saysSomething(change: object): boolean {
  return Object.values(change).some((value: unknown) =>
    typeof value === "object" && value !== null ? saysSomething(value) : value !== undefined,
  );
}

function isTimeZone(zone: string): boolean {
  try {
    quietUntil(0, { enabled: true, start: "00:00", end: "00:01", timezone: zone });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
