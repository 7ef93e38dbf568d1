/** /api/admin/*: accounts, statistics, jobs, plans (contract §2). Nothing here shows what is in an account. */
import { Elysia, t } from "elysia";
import { AppError } from "../../errors.ts";
import { noteAudit } from "../../http/audit-note.ts";
import { documented } from "../../http/documented.ts";
import { ok, paginate } from "../../http/envelope.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { IdParams, type Query, readBoolean, readChoice, readInteger, readQuery } from "../../http/fields.ts";
import type { JobOutcome, JobState } from "../../jobs/scheduler.ts";
import { type Clock, toTimestamp } from "../../lib/clock.ts";
import { newSecretToken } from "../../lib/id.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import type { AuthService } from "../auth/service.ts";
import type { DeviceService } from "../devices/service.ts";
import { presentRemoved } from "../devices/present.ts";
import { RemovedDevice } from "../devices/model.ts";
import type { Plans } from "../plans/plans.ts";
import { SessionItem, UsageRecord } from "../users/model.ts";
import { presentSessionItem } from "../users/present.ts";
import { PLAN_NAMES, type PlanName, ROLES, type User, type UserChanges } from "../users/types.ts";
import {
  AccountBody,
  AccountDevice,
  AccountPageRecord,
  AccountRecord,
  JobRecord,
  NewAccountBody,
  NewAccountRecord,
  PlanRecord,
  ResetLinkRecord,
  StatsRecord,
} from "./model.ts";
import { presentAccount, presentAccountDevice, presentJob, presentPlan, presentStats } from "./present.ts";
import type { AccountAdministration } from "./service.ts";
import type { Statistics } from "./statistics.ts";
import { ACCOUNT_SORTS, type AccountQuery, type AccountRow } from "./types.ts";

/** The jobs of the running server. */
export interface JobControl {
  list(): readonly JobState[];
  /** Runs a job now. @throws Error for a name that none has */
  run(name: string): Promise<JobOutcome>;
}

/** A link by which somebody sets a password. */
export interface ResetLinks {
  /** @param baseUrl what the link starts with */
  issue(user: User, baseUrl: string): Promise<{ readonly url: string; readonly expiresAtMs: number }>;
}

/** The second factors of accounts. */
export interface TwoFactorControl {
  isEnabled(userId: number): boolean;
  /** Takes all of an account's away, so that its password is enough again; durable on return. */
  disable(user: User): Promise<void>;
}

/** What the routes of administration work with. */
export interface AdminRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly statistics: Statistics;
  readonly auth: AuthService;
  readonly devices: DeviceService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly defaultPlan: PlanName;
  /** GET /api/users/usage, as `features/plans` reckons it. */
  readonly usageOf: (user: User) => object;
  readonly twoFactor: TwoFactorControl;
  readonly resetLinks: ResetLinks;
  readonly jobs: JobControl;
  readonly disk: { readonly freeBytes: () => number; readonly totalBytes: () => number };
  readonly version: string;
}

const PAGE_LIMIT_MAX = 100;
const PAGE_LIMIT_DEFAULT = 20;
/** A run of a job is waited for so long; it goes on behind the answer. */
const JOB_WAIT_MS = 5_000;
const NO_CONTENTS = "An administrator manages accounts and sees no contents.";

const SessionParams = t.Object({ id: t.String(), sessionId: t.String() });
const AccountDeviceParams = t.Object({ id: t.String(), deviceId: t.String() });
const JobParams = t.Object({ name: t.String() });

/** See the head of this file. */
export function adminRoutes(options: AdminRoutesOptions) {
  const { accounts, auth, devices, guard, plans, usageOf, twoFactor, resetLinks } = options;
  const present = (row: AccountRow) => presentAccount(row, plans[row.plan], twoFactor.isEnabled(row.id));
  const presentById = async (id: string) => present(await accounts.read(id));
  const linkFor = async (user: User, request: Request) => {
    const { url, expiresAtMs } = await resetLinks.issue(user, exchangeOf(request).baseUrl);
    return { url, expiresAt: toTimestamp(expiresAtMs) };
  };

  return new Elysia({ name: "admin-routes", prefix: "/api/admin" })
    .use(guard)
    .get(
      "/users",
      async ({ request }) => {
        const { page, query } = readAccountQuery(readQuery(exchangeOf(request).query));
        const { accounts: rows, total } = await accounts.list(query);
        return ok({ users: rows.map(present), pagination: paginate(page, query.limit, total) });
      },
      {
        access: "admin",
        ...documented({
          tag: "Administration",
          summary: "All accounts",
          description: NO_CONTENTS,
          access: "admin",
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
        }),
      },
    )
    .post(
      "/users",
      async ({ body, request, set }) => {
        const { quota, password, role = "user", plan = options.defaultPlan, ...rest } = body;
        const quotaBytes = quota === "plan" ? undefined : quota;
        const user = await accounts.add({ ...rest, role, plan, quotaBytes, password: password ?? newSecretToken(256) });
        noteAudit(request, { subjectId: user.publicId, details: { role, plan } });
        set.status = 201;
        const record = await presentById(user.publicId);
        return ok(password === undefined ? { ...record, passwordLink: await linkFor(user, request) } : record);
      },
      {
        ...takesJson("admin", NewAccountBody),
        ...documented({
          takesJson: true,
          tag: "Administration",
          summary: "Make an account",
          description:
            "Without a password, `passwordLink` is the address at which its owner sets one. Role `user` and the default " +
            "plan, unless given.",
          access: "admin",
          status: 201,
          data: NewAccountRecord,
          errors: ["email_taken"],
        }),
      },
    )
    .get("/users/:id", async ({ params }) => ok(await presentById(params.id)), {
      access: "admin",
      params: IdParams,
      ...documented({
        tag: "Administration",
        summary: "An account",
        description: NO_CONTENTS,
        access: "admin",
        data: AccountRecord,
        errors: ["not_found", "invalid_field"],
      }),
    })
    .patch(
      "/users/:id",
      async ({ params, body, request }) => {
        const changed = Object.keys(body);
        if (changed.length === 0) throw new AppError("invalid_field", "There is nothing to change. Name a field.");
        // What, but for passwords also what to: whoever reads the log wants to know who made whom an administrator.
        const { password: _secret, ...told } = body;
        const emailBefore = body.email === undefined ? {} : { emailBefore: accounts.get(params.id).email };
        const password = body.password === undefined ? {} : { password: "changed" };
        noteAudit(request, { details: { ...told, ...emailBefore, ...password } });
        await accounts.change(params.id, readChanges(body));
        return ok(await presentById(params.id));
      },
      {
        ...takesJson("admin", AccountBody),
        params: IdParams,
        ...documented({
          takesJson: true,
          tag: "Administration",
          summary: "Change an account; what is not named stays",
          description:
            "Takes effect at once. A new password and `disabled` end all its sessions, phones included. The last enabled " +
            "administrator stays one: 409 last_admin. A quota below what is used refuses new files and deletes none.",
          access: "admin",
          data: AccountRecord,
          errors: ["not_found", "email_taken", "last_admin"],
        }),
      },
    )
    .delete(
      "/users/:id",
      async ({ params, request }) => {
        const user = await accounts.erase(params.id);
        noteAudit(request, { details: { email: user.email } });
        return ok({ id: user.publicId }, "The account and all its files are deleted.");
      },
      {
        access: "admin",
        params: IdParams,
        ...documented({
          tag: "Administration",
          summary: "Erase an account with all its files",
          access: "admin",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field", "last_admin"],
        }),
      },
    )
    .get(
      "/users/:id/sessions",
      ({ params, principal }) =>
        ok({
          sessions: auth
            .listSessions(accounts.get(params.id).id)
            .map((session) => presentSessionItem(session, principal.session)),
        }),
      {
        access: "admin",
        params: IdParams,
        ...documented({
          tag: "Administration",
          summary: "Where an account is signed in",
          access: "admin",
          data: t.Object({ sessions: t.Array(SessionItem) }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .delete(
      "/users/:id/sessions",
      async ({ params }) => {
        await accounts.endSessions(params.id);
        return ok({ id: params.id }, "All sessions of the account have ended.");
      },
      {
        access: "admin",
        params: IdParams,
        ...documented({
          tag: "Administration",
          summary: "End all sessions of an account, phones included",
          access: "admin",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .delete(
      "/users/:id/sessions/:sessionId",
      async ({ params }) => {
        await auth.endSession(accounts.get(params.id).id, params.sessionId);
        return ok({ id: params.sessionId }, "The session has ended.");
      },
      {
        access: "admin",
        params: SessionParams,
        ...documented({
          tag: "Administration",
          summary: "End a session of an account",
          access: "admin",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .get(
      "/users/:id/devices",
      ({ params }) => ok({ devices: devices.list(accounts.get(params.id).id).map(presentAccountDevice) }),
      {
        access: "admin",
        params: IdParams,
        ...documented({
          tag: "Administration",
          summary: "Devices of an account",
          access: "admin",
          data: t.Object({ devices: t.Array(AccountDevice) }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .delete(
      "/users/:id/devices/:deviceId",
      async ({ params }) =>
        ok(
          presentRemoved(await devices.remove(accounts.get(params.id).id, params.deviceId)),
          "The device is removed and signed out.",
        ),
      {
        access: "admin",
        params: AccountDeviceParams,
        ...documented({
          tag: "Administration",
          summary: "Remove a device of an account",
          access: "admin",
          data: RemovedDevice,
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .get("/users/:id/usage", ({ params }) => ok(usageOf(accounts.get(params.id))), {
      access: "admin",
      params: IdParams,
      ...documented({
        tag: "Administration",
        summary: "Storage and transfers of an account",
        access: "admin",
        data: UsageRecord,
        errors: ["not_found", "invalid_field"],
      }),
    })
    .delete(
      "/users/:id/two-factor",
      async ({ params }) => {
        await twoFactor.disable(accounts.get(params.id));
        return ok({ id: params.id }, "The password alone signs in again.");
      },
      {
        access: "admin",
        params: IdParams,
        ...documented({
          tag: "Administration",
          summary: "Take an account's second factors away, for whoever has lost theirs",
          access: "admin",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .post("/users/:id/reset-link", async ({ params, request }) => ok(await linkFor(accounts.get(params.id), request)), {
      access: "admin",
      parse: "none",
      params: IdParams,
      ...documented({
        tag: "Administration",
        summary: "A link at which the account's owner sets a new password",
        description: "Works once and for a short time; hand it over by a way that only they read.",
        access: "admin",
        data: ResetLinkRecord,
        errors: ["not_found", "invalid_field", "account_disabled"],
      }),
    })
    .use(serverRoutes(options));
}

/** Statistics, plans and jobs. */
function serverRoutes({ statistics, guard, clock, plans, defaultPlan, jobs, disk, version }: AdminRoutesOptions) {
  const startedAtMs = clock.nowMs();
  const jobNamed = (name: string) => {
    const job = jobs.list().find((one) => one.name === name);
    if (job === undefined) throw new AppError("not_found", "There is no such job. See GET /api/admin/jobs.");
    return job;
  };
  return new Elysia({ name: "admin-server-routes" })
    .use(guard)
    .get(
      "/stats",
      async () =>
        ok(
          presentStats(await statistics.count(), {
            diskFreeBytes: disk.freeBytes(),
            diskTotalBytes: disk.totalBytes(),
            jobs: jobs.list(),
            version,
            startedAtMs,
            nowMs: clock.nowMs(),
          }),
        ),
      {
        access: "admin",
        ...documented({
          tag: "Administration",
          summary: "What the server holds and does",
          description: "Sums over a very large server may be up to a minute old.",
          access: "admin",
          data: StatsRecord,
        }),
      },
    )
    .get("/plans", () => ok({ plans: PLAN_NAMES.map((name) => presentPlan(plans[name], name === defaultPlan)) }), {
      access: "admin",
      ...documented({
        tag: "Administration",
        summary: "The plans with their numbers as they hold",
        description: "They are changed in the configuration.",
        access: "admin",
        data: t.Object({ plans: t.Array(PlanRecord) }),
      }),
    })
    .get("/jobs", () => ok({ jobs: jobs.list().map(presentJob) }), {
      access: "admin",
      ...documented({
        tag: "Administration",
        summary: "Scheduled jobs and how they stand",
        access: "admin",
        data: t.Object({ jobs: t.Array(JobRecord) }),
      }),
    })
    .post(
      "/jobs/:name/run",
      async ({ params }) => {
        jobNamed(params.name);
        await Promise.race([jobs.run(params.name), Bun.sleep(JOB_WAIT_MS)]);
        return ok(presentJob(jobNamed(params.name)));
      },
      {
        access: "admin",
        parse: "none",
        params: JobParams,
        ...documented({
          tag: "Administration",
          summary: "Run a job now, or after its present run",
          description: "Answers when it is done, or after 5 seconds with `isRunning`; it goes on.",
          access: "admin",
          data: JobRecord,
          errors: ["not_found", "invalid_field"],
        }),
      },
    );
}

/** @throws AppError invalid_field */
function readAccountQuery(query: Query): { page: number; query: AccountQuery } {
  const page = readInteger(query, "page", { min: 1, max: Math.floor(Number.MAX_SAFE_INTEGER / 1000), default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT });
  return {
    page,
    query: {
      search: query["search"]?.trim() || undefined,
      role: readChoice(query["role"], "role", ROLES),
      plan: readChoice(query["plan"], "plan", PLAN_NAMES),
      isDisabled: readBoolean(query["disabled"], "disabled"),
      sort: readChoice(query["sort"], "sort", ACCOUNT_SORTS) ?? "email",
      order: readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc",
      offset: (page - 1) * limit,
      limit,
    },
  };
}

function readChanges({ quota, disabled, ...rest }: typeof AccountBody.static): UserChanges {
  return {
    ...rest,
    ...(quota !== undefined && { quotaBytes: quota }),
    ...(disabled !== undefined && { isDisabled: disabled }),
  };
}
