/** Which categories of messages a device wants, and its quiet hours. */
import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import {
  mergeNotifications,
  type NotificationChange,
  type NotificationPreferences,
  type QuietHours,
  readSettings,
} from "../../accounts/users/settings.ts";
import type { PushCategory } from "./channels/channel.ts";
import { quietUntil } from "./quiet-hours.ts";

/** The decision of a device's preferences about a message. */
type PushDecision = { readonly action: "send" | "mute" } | { readonly action: "defer"; readonly untilMs: number };

/**
 * The preferences in force: the device's own, or the user's settings if the device registered none.
 * @param stored JSON of the device's own preferences, or null
 * @param userSettings JSON of the user's settings
 */
export function preferencesInForce(stored: string | null, userSettings: string): NotificationPreferences {
  return stored === null ? readSettings(userSettings).notifications : parse(stored);
}

/**
 * The JSON to store after a change by a device. The change is merged into the device's earlier preferences; at first it
 * wants all categories and has no quiet hours. An empty change has no effect.
 * @throws AppError invalid_field for an unknown time zone
 */
export function mergePreferences(stored: string | null, change: NotificationChange): string | null {
  const zone = change.quietHours?.timezone;
  if (zone !== undefined && !isTimeZone(zone)) {
    throw invalidField(
      "preferences.quietHours.timezone",
      say`${JSON.stringify(zone)} is not a valid time zone. Use an IANA name, such as Europe/Berlin.`,
    );
  }
  if (!hasValue(change)) return stored;
  const before = stored === null ? readSettings("{}").notifications : parse(stored);
  return JSON.stringify(mergeNotifications(before, change));
}

/** Decides whether a message of this category is sent now, deferred or not sent. */
export function decidePush(preferences: NotificationPreferences, category: PushCategory, nowMs: number): PushDecision {
  if (!preferences[category]) return { action: "mute" };
  const untilMs = quietUntilIfKnown(nowMs, preferences.quietHours);
  return untilMs === undefined ? { action: "send" } : { action: "defer", untilMs };
}

/** If the machine no longer knows a time zone, its quiet hours don't apply: a message at night is better than none. */
function quietUntilIfKnown(nowMs: number, quietHours: QuietHours): number | undefined {
  try {
    return quietUntil(nowMs, quietHours);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function parse(stored: string): NotificationPreferences {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only mergePreferences writes it
  return JSON.parse(stored) as NotificationPreferences;
}

function hasValue(change: object): boolean {
  return Object.values(change).some((value: unknown) =>
    typeof value === "object" && value !== null ? hasValue(value) : value !== undefined,
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
