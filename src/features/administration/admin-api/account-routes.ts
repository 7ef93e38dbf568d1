/** /api/admin/users: accounts, their usage, and links to set a password. */
import { AppError, invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, type Query, readBoolean, readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { ProofBody } from "../../accounts/auth/model.ts";
import { notByKey, type Principal } from "../../accounts/auth/principal.ts";
import type { ProofService } from "../../accounts/auth/proof.ts";
import type { Plans } from "../../accounts/plans/plans.ts";
import { PLAN_NAMES, type PlanName, ROLES, type User, type UserChanges } from "../../accounts/users/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { PAGE_LIMIT_MAX, PAGE_LIMIT_DEFAULT } from "./model.ts";
import { AccountBody, NewAccountBody } from "./model.ts";
import { presentAccount } from "./present.ts";
import type { AccountAdministration, Check } from "./service.ts";
import { ACCOUNT_SORTS, type AccountQuery, type AccountRow } from "./types.ts";

/** A link by which somebody sets a password. */
export interface ResetLinks {
  /** @param baseUrl what the link starts with @param check runs first in its transaction */
  issue(user: User, baseUrl: string, check?: Check): Promise<{ readonly url: string; readonly expiresAtMs: number }>;
}

/** Dependencies of these routes. */
export interface AccountRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly guard: ReturnType<typeof authGuard>;
  readonly plans: Plans;
  readonly defaultPlan: PlanName;
  /** GET /api/users/usage, as `features/accounts/plans` reckons it. */
  readonly usageOf: (user: User) => object;
  readonly twoFactor: { isEnabled(userId: number): boolean };
  readonly resetLinks: ResetLinks;
  readonly proof: ProofService;
}

export function accountRoutes(options: AccountRoutesOptions) {
  const { accounts, guard, plans, usageOf, twoFactor, resetLinks, proof } = options;
  const present = (row: AccountRow) => presentAccount(row, plans[row.plan], twoFactor.isEnabled(row.id));
  const presentById = async (id: string) => present(await accounts.read(id));
  const linkFor = async (user: User, request: Request, check?: Check) => {
    const { url, expiresAtMs } = await resetLinks.issue(user, requestContextOf(request).baseUrl, check);
    return { url, expiresAt: toTimestamp(expiresAtMs) };
  };

  return new Router({ name: "admin-account-routes", prefix: "/api/admin", guard })
    .get(
      "/users",
      {
        access: "admin",
        scope: "admin",
        rate: "general",
        audit: { action: "admin.read", write: "rejections" },
        docs: docs.listAccounts,
      },
      async ({ request }) => {
        const { page, query } = readAccountQuery(queryOf(request));
        const { accounts: rows, total } = await accounts.list(query);
        return ok({ users: rows.map(present), pagination: paginate(page, query.limit, total) });
      },
    )
    .post(
      "/users",
      {
        access: "admin",
        scope: "admin",
        rate: "general",
        audit: { action: "user.create", target: "user" },
        docs: docs.createAccount,
        body: NewAccountBody,
      },
      async ({ body, principal, request, set }) => {
        const { email, name, quota, password, role = "user", plan = options.defaultPlan } = body;
        const isByKey = principal.key !== undefined;
        // Who makes an administrator could as well become one by it: that needs proof.
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        const proven = role === "admin" ? await proof.require(asking, body) : undefined;
        const quotaBytes = quota === "plan" ? undefined : quota;
        const named = name === undefined ? {} : { name };
        const user = await accounts.add({ email, ...named, role, plan, quotaBytes, password }, proven);
        noteAudit(request, { subjectId: user.publicId, details: { role, plan } });
        set.status = 201;
        const record = await presentById(user.publicId);
        // The holder of the link can enter the account: it is for a person, not for a key.
        const hasLink = password === undefined && !isByKey;
        return ok(hasLink ? { ...record, passwordLink: await linkFor(user, request) } : record);
      },
    )
    .get(
      "/users/:id",
      {
        access: "admin",
        scope: "admin",
        rate: "general",
        audit: { action: "admin.read", write: "rejections" },
        docs: docs.getAccount,
        params: IdParams,
      },
      async ({ params }) => ok(await presentById(params.id)),
    )
    .patch(
      "/users/:id",
      {
        access: "admin",
        scope: "admin",
        rate: "general",
        audit: { action: "user.change", target: "user", targetParam: "id" },
        docs: docs.updateAccount,
        params: IdParams,
        body: AccountBody,
      },
      async ({ params, body, principal, request, set }) => {
        const { currentPassword: _proof, code: _code, endKeys = false, ...changes } = body;
        checkChanges(principal, changes, endKeys);
        const needsProof = PROVEN_CHANGES.some((field) => changes[field] !== undefined);
        if (needsProof) accounts.rejectOwn(principal.user, accounts.get(params.id).publicId, readChanges(changes));
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        const proven = needsProof ? await proof.require(asking, body) : undefined;
        // Logs the new values too, except passwords: the log must show who made whom an administrator.
        const { password: _secret, ...logged } = { ...changes, ...(endKeys && { endKeys }) };
        const emailBefore = body.email === undefined ? {} : { emailBefore: accounts.get(params.id).email };
        const password = body.password === undefined ? {} : { password: "changed" };
        noteAudit(request, { details: { ...logged, ...emailBefore, ...password } });
        await accounts.change(params.id, readChanges(changes), endKeys, proven);
        return ok(await presentById(params.id));
      },
    )
    .delete(
      "/users/:id",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "user.erase", target: "user", targetParam: "id" },
        docs: docs.deleteAccount,
        params: IdParams,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ params, body, principal, request, set }) => {
        accounts.rejectOwn(principal.user, accounts.get(params.id).publicId, { isDisabled: true });
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        const user = await accounts.erase(params.id, await proof.require(asking, body));
        noteAudit(request, { details: { email: user.email } });
        return ok({ id: user.publicId }, "The account and all its files were deleted.");
      },
    )
    .get(
      "/users/:id/usage",
      {
        access: "admin",
        scope: "admin",
        rate: "general",
        audit: { action: "admin.read", write: "rejections" },
        docs: docs.accountUsage,
        params: IdParams,
      },
      ({ params }) => ok(usageOf(accounts.get(params.id))),
    )
    .post(
      "/users/:id/reset-link",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "user.reset_link", target: "user", targetParam: "id" },
        docs: docs.createResetLink,
        params: IdParams,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ params, body, principal, request, set }) => {
        const user = accounts.get(params.id);
        accounts.rejectOwn(principal.user, user.publicId, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        return ok(await linkFor(user, request, await proof.require(asking, body)));
      },
    );
}

/** What an API key may change: nothing by which somebody enters the account. */
const KEY_CHANGES: ReadonlySet<string> = new Set(["plan", "quota", "name", "disabled"]);

/** What could let somebody into the account. */
const PROVEN_CHANGES = ["password", "email", "emailVerified", "role"] as const;

type AccountChanges = Omit<typeof AccountBody.static, "currentPassword" | "code" | "endKeys">;

/** @throws AppError scope for an API key that would change anything else; invalid_field */
function checkChanges({ key }: Principal, changes: AccountChanges, endKeys: boolean): void {
  const names = Object.keys(changes);
  if (key !== undefined && (endKeys || !names.every((field) => KEY_CHANGES.has(field)))) throw notByKey();
  if (endKeys && changes.password === undefined) {
    throw invalidField("endKeys", "API keys can be revoked only together with a password change. Send a password.");
  }
  if (names.length === 0)
    throw new AppError("invalid_field", "The request contains no changes. Send at least one field.");
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

function readChanges({ quota, disabled, emailVerified, ...rest }: AccountChanges): UserChanges {
  return {
    ...rest,
    ...(emailVerified !== undefined && { isEmailConfirmed: emailVerified }),
    ...(quota !== undefined && { quotaBytes: quota }),
    ...(disabled !== undefined && { isDisabled: disabled }),
  };
}
