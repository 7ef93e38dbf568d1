import { PLAN_SETTINGS, PLANS } from "./plans.ts";
import { choice, duration, factor, optionalText, readPath, toggle } from "../setting.ts";

/** Who can have an account, and its limits. */
export const ACCOUNT_SETTINGS = {
  preset: choice(
    ["spec", "household"],
    "spec",
    "Set of defaults. household: new accounts get the enterprise plan, sign-up requires an invitation, users find each other when they share, and request limits are 100 times higher, except those for wrong passwords.",
  ),
  signup: choice(
    ["open", "invite", "closed"],
    "open",
    "Who can create an account: everyone (open), only people with an invitation, or no one (closed).",
  ),
  defaultPlan: choice(PLANS, "free", "Plan of new accounts."),
  adminEmail: optionalText(
    "email",
    (value) => value,
    "Email of an administrator to create at startup if there is none yet. Requires adminPassword or adminPasswordFile.",
  ),
  adminPassword: optionalText("text", (value) => value, "Password of the administrator to create.", true),
  adminPasswordFile: optionalText("path", readPath, "File that contains the password of the administrator to create."),
  showPeople: choice(
    ["off", "on", "emails"],
    "off",
    "Whether users find other people and groups by name when they share. emails: they also see email addresses.",
  ),
  tokenLifetime: duration("1m", "365d", "24h", "How long a session token is valid without a refresh."),
  rateLimits: toggle(true, "Limit the number of requests. Attempts with wrong passwords are always limited."),
  rateLimitScale: factor(
    1,
    "Factor for all request limits that are not set explicitly, except those for wrong passwords.",
  ),
  plans: PLAN_SETTINGS,
};
