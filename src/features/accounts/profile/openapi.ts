/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { ProfileRecord, RateLimitUsage, SessionItem, SettingsRecord, UsageRecord } from "./model.ts";
import { t } from "elysia";

export const getProfile = (): RouteDocs => ({
  tag: "Users",
  summary: "One's own profile",
  description: "Name, e-mail, role and plan of the caller.",
  data: ProfileRecord,
});

export const updateProfile = (): RouteDocs => ({
  tag: "Users",
  summary: "Change name, e-mail or password",
  description:
    "E-mail and password need proof: currentPassword (and code), or a confirmed session. A new password ends all " +
    "other sessions, and API keys with `endKeys`. Passkeys stay.",
  data: ProfileRecord,
  errors: ["email_taken", ...PROOF_ERRORS],
});

export const deleteAccount = (): RouteDocs => ({
  tag: "Users",
  summary: "Erase the account with all its files",
  description:
    "Files, links, devices and sessions end at once; this cannot be undone. Needs proof: `password` (and `code`), " +
    "or a confirmed session.",
  data: t.Object({ id: t.String() }),
  errors: ["last_admin", ...PROOF_ERRORS],
});

export const getSettings = (): RouteDocs => ({
  tag: "Users",
  summary: "Settings",
  description: "Language, time zone, theme, default view, notifications and how many versions are retained.",
  data: SettingsRecord,
});

export const updateSettings = (): RouteDocs => ({
  tag: "Users",
  summary: "Change settings; what is not named stays",
  description: "Returns all settings as they are afterwards.",
  data: SettingsRecord,
});

export const usage = (): RouteDocs => ({
  tag: "Users",
  summary: "Storage and transfers used",
  description: "Bytes and counts of the caller's account against its plan, and transfers of the current month.",
  data: UsageRecord,
});

export const rateLimits = (): RouteDocs => ({
  tag: "Users",
  summary: "Requests used in each window",
  description: "One record for each rate-limit category, used or not.",
  data: RateLimitUsage,
});

export const listSessions = (): RouteDocs => ({
  tag: "Users",
  summary: "Where one is signed in",
  description: "Sessions of browsers, scripts and devices, with the address last seen.",
  data: t.Object({ sessions: t.Array(SessionItem) }),
});

export const endSession = (): RouteDocs => ({
  tag: "Users",
  summary: "End a session",
  description: "Its token stops working at once.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
