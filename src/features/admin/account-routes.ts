/** /api/admin/users: accounts, their usage, and links to set a password (contract §2). */
import { Elysia, t } from "elysia";
import { AppError } from "../../errors.ts";
import { noteAudit } from "../../http/audit-note.ts";
import { documented } from "../../http/documented.ts";
import { ok, paginate } from "../../http/envelope.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { IdParams, type Query, readBoolean, readChoice, readInteger, readQuery } from "../../http/fields.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { newSecretToken } from "../../lib/id.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import type { Plans } from "../plans/plans.ts";
import { UsageRecord } from "../users/model.ts";
import { PLAN_NAMES, type PlanName, ROLES, type User, type UserChanges } from "../users/types.ts";
import {
  AccountBody,
  AccountPageRecord,
  AccountRecord,
  NewAccountBody,
  NewAccountRecord,
  ResetLinkRecord,
} from "./model.ts";
import { presentAccount } from "./present.ts";
import type { AccountAdministration } from "./service.ts";
import { ACCOUNT_SORTS, type AccountQuery, type AccountRow } from "./types.ts";

/** A link by which somebody sets a password. */
export interface ResetLinks {
  /** @param baseUrl what the link starts with */
  issue(user: User, baseUrl: string): Promise<{ readonly url: string; readonly expiresAtMs: number }>;
}

/** What these routes work with. */
export interface AccountRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly guard: ReturnType<typeof authGuard>;
  readonly plans: Plans;
  readonly defaultPlan: PlanName;
  /** GET /api/users/usage, as `features/plans` reckons it. */
  readonly usageOf: (user: User) => object;
  readonly twoFactor: { isEnabled(userId: number): boolean };
  readonly resetLinks: ResetLinks;
}

const PAGE_LIMIT_MAX = 100;
const PAGE_LIMIT_DEFAULT = 20;
const NO_CONTENTS = "An administrator manages accounts and sees no contents.";

/** See the head of this file. */
export function accountRoutes(options: AccountRoutesOptions) {
  const { accounts, guard, plans, usageOf, twoFactor, resetLinks } = options;
  const present = (row: AccountRow) => presentAccount(row, plans[row.plan], twoFactor.isEnabled(row.id));
  const presentById = async (id: string) => present(await accounts.read(id));
  const linkFor = async (user: User, request: Request) => {
    const { url, expiresAtMs } = await resetLinks.issue(user, exchangeOf(request).baseUrl);
    return { url, expiresAt: toTimestamp(expiresAtMs) };
  };

  return new Elysia({ name: "admin-account-routes", prefix: "/api/admin" })
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
    });
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
