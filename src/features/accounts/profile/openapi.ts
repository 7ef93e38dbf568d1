/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { ProfileRecord, RateLimitUsage, SessionItem, SettingsRecord, UsageRecord } from "./model.ts";
import { t } from "elysia";

export const getProfile = (): RouteDocs => ({
  tag: "Users",
  summary: "Get your profile",
  description: "Name, email, role and plan.",
  data: ProfileRecord,
});

export const updateProfile = (): RouteDocs => ({
  tag: "Users",
  summary: "Change your name, email or password",
  description:
    "Email and password need proof. A new password ends all other sessions; with `endKeys` also keys and app " +
    "passwords. Passkeys stay.",
  data: ProfileRecord,
  errors: ["email_taken", ...PROOF_ERRORS],
});

export const deleteAccount = (): RouteDocs => ({
  tag: "Users",
  summary: "Delete your account and all its files",
  description:
    "Files, links, devices and sessions are removed at once. This cannot be undone. Needs proof: `password` (and " +
    "`code`), or a confirmed session.",
  data: t.Object({ id: t.String() }),
  errors: ["last_admin", ...PROOF_ERRORS],
});

export const getSettings = (): RouteDocs => ({
  tag: "Users",
  summary: "Get your settings",
  description: "Language, time zone, theme, default view, notifications, and how many versions are retained.",
  data: SettingsRecord,
});

export const updateSettings = (): RouteDocs => ({
  tag: "Users",
  summary: "Change your settings",
  description: "Fields that are left out stay unchanged. Returns all settings.",
  data: SettingsRecord,
});

export const usage = (): RouteDocs => ({
  tag: "Users",
  summary: "Get your storage usage and transfers",
  description: "Bytes and counts of the account compared with its plan, and transfers of the current month.",
  data: UsageRecord,
});

export const rateLimits = (): RouteDocs => ({
  tag: "Users",
  summary: "Get your current rate limits",
  description: "One record for each rate-limit category, used or not.",
  data: RateLimitUsage,
});

export const listSessions = (): RouteDocs => ({
  tag: "Users",
  summary: "List your sessions",
  description: "Sessions of browsers, scripts and devices, each with the address last seen.",
  data: t.Object({ sessions: t.Array(SessionItem) }),
});

export const endSession = (): RouteDocs => ({
  tag: "Users",
  summary: "End a session",
  description: "Its token stops working at once.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
