/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ACCOUNT_SORTS } from "./types.ts";
import {
  AccountPageRecord,
  AccountRecord,
  ConfigRecord,
  DAYS_MAX,
  HealthRecord,
  HistoryRecord,
  JobRecord,
  NewAccountRecord,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PlanRecord,
  ResetLinkRecord,
  StatsRecord,
} from "./model.ts";
import { DeviceFactsRecord, RemovedDevice } from "../../mobile/devices/model.ts";
import { PLAN_NAMES, ROLES } from "../../accounts/users/types.ts";
import { PROOF_ERRORS } from "../../accounts/auth/confirm-routes.ts";
import { SessionItem, UsageRecord } from "../../accounts/profile/model.ts";
import { t } from "elysia";

const NEEDS_PROOF =
  "Needs proof: `currentPassword` (and `code`), or a confirmed session. On one's own account it is 403 role.";

const NO_CONTENTS = "An administrator manages accounts and sees no contents.";

export const listSessions = (): RouteDocs => ({
  tag: "Administration",
  summary: "Where an account is signed in",
  description: "Sessions of browsers, scripts and devices.",
  data: t.Object({ sessions: t.Array(SessionItem) }),
  errors: ["not_found", "invalid_field"],
});

export const endSessions = (): RouteDocs => ({
  tag: "Administration",
  summary: "End all sessions of an account, phones included",
  description: `Tokens stop working at once; API keys stay. ${NEEDS_PROOF}`,
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const endSession = (): RouteDocs => ({
  tag: "Administration",
  summary: "End a session of an account",
  description: `Its token stops working at once. ${NEEDS_PROOF}`,
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const listDevices = (): RouteDocs => ({
  tag: "Administration",
  summary: "Devices of an account",
  description: "Registered phones and computers.",
  data: t.Object({ devices: t.Array(DeviceFactsRecord) }),
  errors: ["not_found", "invalid_field"],
});

export const removeDevice = (): RouteDocs => ({
  tag: "Administration",
  summary: "Remove a device of an account",
  description: `Its tokens stop working at once. ${NEEDS_PROOF}`,
  data: RemovedDevice,
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const disableTwoFactor = (): RouteDocs => ({
  tag: "Administration",
  summary: "Take an account's second factors away, for an owner who lost theirs",
  description: `Authenticator apps and recovery codes end; the password stays. ${NEEDS_PROOF}`,
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const listAccounts = (): RouteDocs => ({
  tag: "Administration",
  summary: "All accounts",
  description: NO_CONTENTS,
  data: AccountPageRecord,
  errors: ["invalid_field"],
  query: {
    search: { type: "string", description: "Part of the e-mail or the name" },
    role: { type: "string", enum: [...ROLES] },
    plan: { type: "string", enum: [...PLAN_NAMES] },
    disabled: { type: "boolean" },
    sort: { type: "string", enum: [...ACCOUNT_SORTS], default: "email" },
    order: { type: "string", enum: ["asc", "desc"], default: "asc" },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
  },
});

export const createAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "Make an account",
  description:
    "Without a password, `passwordLink` is the address at which its owner sets one. Role `user` and the default " +
    "plan, unless given. The role `admin` needs proof: `currentPassword` (and `code`), or a confirmed session. An API " +
    "key makes no administrators and gets no link.",
  status: 201,
  data: NewAccountRecord,
  errors: ["email_taken", ...PROOF_ERRORS],
});

export const getAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "An account",
  description: NO_CONTENTS,
  data: AccountRecord,
  errors: ["not_found", "invalid_field"],
});

export const updateAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "Change an account; what is not named stays",
  description:
    "Takes effect at once. A new password and `disabled` end all its sessions, phones included. The last enabled " +
    "administrator stays one: 409 last_admin. A quota below what is used refuses new files and deletes none. An API " +
    "key changes plan, quota, name and disabled alone. Password, e-mail, its confirmation and role need proof: " +
    "`currentPassword` (and `code`), or a confirmed session; on one's own account they are 403 role.",
  data: AccountRecord,
  errors: ["not_found", "email_taken", "last_admin", ...PROOF_ERRORS],
});

export const deleteAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "Erase an account with all its files",
  description: `This cannot be undone. The last enabled administrator cannot be erased. ${NEEDS_PROOF}`,
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", "last_admin", ...PROOF_ERRORS],
});

export const accountUsage = (): RouteDocs => ({
  tag: "Administration",
  summary: "Storage and transfers of an account",
  description: "The same record as the account's own usage.",
  data: UsageRecord,
  errors: ["not_found", "invalid_field"],
});

export const createResetLink = (): RouteDocs => ({
  tag: "Administration",
  summary: "A link at which the account's owner sets a new password",
  description: `Works once and for a short time; hand it over by a way that only they read. ${NEEDS_PROOF}`,
  data: ResetLinkRecord,
  errors: ["not_found", "invalid_field", "account_disabled", ...PROOF_ERRORS],
});

export const stats = (): RouteDocs => ({
  tag: "Administration",
  summary: "What the server holds and does",
  description: "Sums over a very large server may be up to a minute old.",
  data: StatsRecord,
});

export const listPlans = (): RouteDocs => ({
  tag: "Administration",
  summary: "The plans with their numbers as they hold",
  description: "They are changed in the configuration.",
  data: t.Object({ plans: t.Array(PlanRecord) }),
});

export const listJobs = (): RouteDocs => ({
  tag: "Administration",
  summary: "Scheduled jobs and how they stand",
  description: "Each with its schedule, its last run and its result.",
  data: t.Object({ jobs: t.Array(JobRecord) }),
});

export const runJob = (): RouteDocs => ({
  tag: "Administration",
  summary: "Run a job now, or after its present run",
  description: "Answers when it is done, or after 5 seconds with `isRunning`; it goes on.",
  data: JobRecord,
  errors: ["not_found", "invalid_field"],
});

export const health = (): RouteDocs => ({
  tag: "Administration",
  summary: "How the server stands, and what wants to be looked at",
  description: "Lists problems that need the administrator, and figures of the running server.",
  data: HealthRecord,
});

export const configuration = (): RouteDocs => ({
  tag: "Administration",
  summary: "Every setting as it holds, and where it came from",
  description: "Settings are changed in the configuration, by whoever runs the server. Secrets are not shown.",
  data: ConfigRecord,
});

export const statsHistory = (): RouteDocs => ({
  tag: "Administration",
  summary: "What the server held and did on each of the last days, the oldest first",
  description: "Days on which it did not run are missing. Today is as it stands now. Days are those of UTC.",
  query: { days: { type: "integer", minimum: 1, maximum: DAYS_MAX, default: 30 } },
  data: HistoryRecord,
  errors: ["invalid_field"],
});
