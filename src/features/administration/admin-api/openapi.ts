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
  StorageUsageRecord,
} from "./model.ts";
import { AppPasswordList } from "../../accounts/app-passwords/model.ts";
import { DeviceDetailsRecord, RemovedDevice } from "../../mobile/devices/model.ts";
import { PLAN_NAMES, ROLES } from "../../accounts/users/types.ts";
import { PROOF_ERRORS } from "../../accounts/auth/confirm-routes.ts";
import { SessionItem, UsageRecord } from "../../accounts/profile/model.ts";
import { t } from "elysia";

const NEEDS_PROOF = "Needs proof: see POST /api/auth/confirm. For your own account: 403 role.";

const NO_CONTENTS = "An administrator manages accounts but does not see their files.";

export const listSessions = (): RouteDocs => ({
  tag: "Administration",
  summary: "List the sessions of an account",
  description: "Sessions of browsers, scripts and devices.",
  data: t.Object({ sessions: t.Array(SessionItem) }),
  errors: ["not_found", "invalid_field"],
});

export const endSessions = (): RouteDocs => ({
  tag: "Administration",
  summary: "End all sessions of an account",
  description: `All tokens, including those of devices, stop working at once. API keys stay valid. ${NEEDS_PROOF}`,
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
  summary: "List the devices of an account",
  description: "Registered phones and computers.",
  data: t.Object({ devices: t.Array(DeviceDetailsRecord) }),
  errors: ["not_found", "invalid_field"],
});

export const removeDevice = (): RouteDocs => ({
  tag: "Administration",
  summary: "Remove a device of an account",
  description: `Its tokens stop working at once. ${NEEDS_PROOF}`,
  data: RemovedDevice,
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const listAppPasswords = (): RouteDocs => ({
  tag: "Administration",
  summary: "List the app passwords of an account",
  data: AppPasswordList,
  errors: ["not_found", "invalid_field"],
});

export const endAppPassword = (): RouteDocs => ({
  tag: "Administration",
  summary: "End an app password of an account",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const disableTwoFactor = (): RouteDocs => ({
  tag: "Administration",
  summary: "Turn off two-factor authentication of an account",
  description:
    "For an owner who lost their second factor. Authenticator apps and recovery codes stop working; the password " +
    `stays. ${NEEDS_PROOF}`,
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const listAccounts = (): RouteDocs => ({
  tag: "Administration",
  summary: "List all accounts",
  description: NO_CONTENTS,
  data: AccountPageRecord,
  errors: ["invalid_field"],
  query: {
    search: { type: "string", description: "Part of the email or the name" },
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
  summary: "Create an account",
  description:
    "Without a password, the owner chooses one at `passwordLink`, which works once, for 7 days. The role is `user` and the plan is the default plan, " +
    "unless given. The role `admin` needs proof. An API key cannot create administrators and gets no link.",
  status: 201,
  data: NewAccountRecord,
  errors: ["email_taken", ...PROOF_ERRORS],
});

export const getAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "Get an account",
  description: NO_CONTENTS,
  data: AccountRecord,
  errors: ["not_found", "invalid_field"],
});

export const updateAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "Change an account",
  description:
    "Fields that are left out stay unchanged. Changes take effect at once. A new password and `disabled` end all " +
    "sessions of the account, including those of devices. The last enabled administrator cannot lose the role or be " +
    "disabled: 409 last_admin. An API key can change only plan, quota, name and disabled. Password, email, its " +
    "confirmation and role need proof. For your own account they return 403 role.",
  data: AccountRecord,
  errors: ["not_found", "email_taken", "last_admin", ...PROOF_ERRORS],
});

export const deleteAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "Delete an account and all its files",
  description: `This cannot be undone. The last enabled administrator cannot be deleted. ${NEEDS_PROOF}`,
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", "last_admin", ...PROOF_ERRORS],
});

export const accountUsage = (): RouteDocs => ({
  tag: "Administration",
  summary: "Get the storage usage and transfers of an account",
  description: "The same record as the account's own usage.",
  data: UsageRecord,
  errors: ["not_found", "invalid_field"],
});

export const createResetLink = (): RouteDocs => ({
  tag: "Administration",
  summary: "Create a link to set a new password for an account",
  description: `The link works once, for 30 minutes, or for 7 days if nobody has signed in to the account yet. Earlier links end. Send it in a way that only the owner can read. ${NEEDS_PROOF}`,
  data: ResetLinkRecord,
  errors: ["not_found", "invalid_field", "account_disabled", ...PROOF_ERRORS],
});

export const stats = (): RouteDocs => ({
  tag: "Administration",
  summary: "Get the statistics of the server",
  description: "On a very large server, sums may be up to one minute old.",
  data: StatsRecord,
});

export const listPlans = (): RouteDocs => ({
  tag: "Administration",
  summary: "List the plans and their limits",
  description: "To change plans, use PATCH /api/admin/settings.",
  data: t.Object({ plans: t.Array(PlanRecord) }),
});

export const listJobs = (): RouteDocs => ({
  tag: "Administration",
  summary: "List the scheduled jobs",
  description: "Each with its schedule, its last run and its result.",
  data: t.Object({ jobs: t.Array(JobRecord) }),
});

export const runJob = (): RouteDocs => ({
  tag: "Administration",
  summary: "Run a job",
  description:
    "If the job is already running, it runs again afterward. Returns when the job is done, or after 5 seconds with " +
    "`isRunning`; the job then continues.",
  data: JobRecord,
  errors: ["not_found", "invalid_field"],
});

export const health = (): RouteDocs => ({
  tag: "Administration",
  summary: "Get the health of the server",
  description: "Lists problems that an administrator should fix, and figures of the running server.",
  data: HealthRecord,
});

export const configuration = (): RouteDocs => ({
  tag: "Administration",
  summary: "List all settings",
  description:
    "Each with its value and its source. Some can be changed: see PATCH /api/admin/settings. The others are set in the server configuration. " +
    "Secrets are not shown.",
  data: ConfigRecord,
});

export const storageUsage = (): RouteDocs => ({
  tag: "Administration",
  summary: "Get the storage by person and by kind of file",
  description: NO_CONTENTS,
  data: StorageUsageRecord,
});

export const statsHistory = (): RouteDocs => ({
  tag: "Administration",
  summary: "Get the statistics of the last days, oldest first",
  description: "Days on which the server did not run are missing. Today is included as of now. Days are in UTC.",
  query: { days: { type: "integer", minimum: 1, maximum: DAYS_MAX, default: 30 } },
  data: HistoryRecord,
  errors: ["invalid_field"],
});
