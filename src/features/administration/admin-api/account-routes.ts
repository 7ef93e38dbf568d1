/** /api/admin/users: accounts, their usage, and links to set a password. */
import { AppError, invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, type Query, readBoolean, readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { WITH_PROOF } from "../../accounts/auth/model.ts";
import { notByKey, type Principal } from "../../accounts/auth/principal.ts";
import type { ProofService } from "../../accounts/auth/proof.ts";
import type { PasswordLink, PasswordLinks } from "../../accounts/welcome/password-links.ts";
import type { Plans } from "../../accounts/plans/plans.ts";
import { PLAN_NAMES, type PlanName, ROLES, type User, type UserChanges } from "../../accounts/users/types.ts";
import { ADMIN_READ, ADMIN_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { AccountBody, NewAccountBody, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "./model.ts";
import { presentAccount } from "./present.ts";
import type { AccountAdministration } from "./service.ts";
import { ACCOUNT_SORTS, type AccountQuery, type AccountRow } from "./types.ts";

/** Dependencies of these routes. */
export interface AccountRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly guard: ReturnType<typeof authGuard>;
  readonly plans: Plans;
  readonly defaultPlan: () => PlanName;
  /** GET /api/users/usage, calculated by `features/accounts/plans`. */
  readonly usageOf: (user: User) => object;
  readonly twoFactor: { isEnabled(userId: number): boolean };
  readonly passwordLinks: Pick<PasswordLinks, "issue" | "issueFirst">;
  readonly proof: ProofService;
}

/** /api/admin/users, and one account in it. */
export function accountRoutes(options: AccountRoutesOptions) {
  const { accounts, guard, plans, twoFactor, passwordLinks, proof } = options;
  const present = (row: AccountRow) => presentAccount(row, plans[row.plan], twoFactor.isEnabled(row.id));
  const presentById = async (id: string) => present(await accounts.read(id));

  return new Router({ prefix: "/api/admin", guard })
    .get("/users", { ...ADMIN_READ, docs: docs.listAccounts }, async ({ request }) => {
      const { page, query } = readAccountQuery(queryOf(request));
      const { accounts: rows, total } = await accounts.list(query);
      return ok({ users: rows.map(present), pagination: paginate(page, query.limit, total) });
    })
    .post(
      "/users",
      {
        ...ADMIN_ROUTE,
        audit: { action: "user.create", target: "user" },
        docs: docs.createAccount,
        body: NewAccountBody,
      },
      async ({ request, set, principal, body }) => {
        const { email, name, quota, password, role = "user", plan = options.defaultPlan() } = body;
        // A stolen session could create an administrator to keep its access, so that needs proof.
        const checkProof =
          role === "admin" ? await proof.require("admin", { request, set, principal, body }) : undefined;
        const quotaBytes = quota === "plan" ? undefined : quota;
        const named = name === undefined ? {} : { name };
        const user = await accounts.add({ email, ...named, role, plan, quotaBytes, password }, checkProof);
        noteAudit(request, { subjectId: user.publicId, details: { role, plan } });
        set.status = 201;
        const record = await presentById(user.publicId);
        if (password !== undefined) return ok(record);
        const link = await passwordLinks.issueFirst(user, requestContextOf(request).baseUrl);
        // The holder of the link can enter the account: it is for a person, not for a key.
        return ok(principal.key === undefined ? { ...record, passwordLink: presentLink(link) } : record);
      },
    )
    .get("/users/:id", { ...ADMIN_READ, docs: docs.getAccount, params: IdParams }, async ({ params }) =>
      ok(await presentById(params.id)),
    )
    .patch(
      "/users/:id",
      {
        ...ADMIN_ROUTE,
        audit: { action: "user.change", target: "user", targetParam: "id" },
        docs: docs.updateAccount,
        params: IdParams,
        body: AccountBody,
      },
      async ({ request, set, principal, body, params }) => {
        const { currentPassword: _proof, code: _code, endKeys = false, ...changes } = body;
        checkChanges(principal, changes, endKeys);
        const needsProof = PROVEN_CHANGES.some((field) => changes[field] !== undefined);
        if (needsProof) accounts.rejectOwn(principal.user, accounts.get(params.id).publicId, readChanges(changes));
        const checkProof = needsProof ? await proof.require("admin", { request, set, principal, body }) : undefined;
        // Logs the new values too, except passwords: the log must show who made whom an administrator.
        const { password: _secret, ...logged } = { ...changes, ...(endKeys && { endKeys }) };
        const emailBefore = body.email === undefined ? {} : { emailBefore: accounts.get(params.id).email };
        const password = body.password === undefined ? {} : { password: "changed" };
        noteAudit(request, { details: { ...logged, ...emailBefore, ...password } });
        await accounts.change(params.id, readChanges(changes), endKeys, checkProof);
        return ok(await presentById(params.id));
      },
    );
}

/** The deletion of an account, its usage, and links to set its password. */
export function accountActionRoutes({ accounts, guard, usageOf, passwordLinks, proof }: AccountRoutesOptions) {
  return new Router({ prefix: "/api/admin", guard })
    .delete(
      "/users/:id",
      {
        ...ADMIN_ROUTE,
        ...WITH_PROOF,
        scope: "never",
        audit: { action: "user.erase", target: "user", targetParam: "id" },
        docs: docs.deleteAccount,
        params: IdParams,
      },
      async ({ request, set, principal, body, params }) => {
        accounts.rejectOwn(principal.user, accounts.get(params.id).publicId, { isDisabled: true });
        const user = await accounts.erase(params.id, await proof.require("admin", { request, set, principal, body }));
        noteAudit(request, { details: { email: user.email } });
        return ok({ id: user.publicId }, "The account and all its files were deleted.");
      },
    )
    .get("/users/:id/usage", { ...ADMIN_READ, docs: docs.accountUsage, params: IdParams }, ({ params }) =>
      ok(usageOf(accounts.get(params.id))),
    )
    .post(
      "/users/:id/reset-link",
      {
        ...ADMIN_ROUTE,
        ...WITH_PROOF,
        scope: "never",
        audit: { action: "user.reset_link", target: "user", targetParam: "id" },
        docs: docs.createResetLink,
        params: IdParams,
      },
      async ({ request, set, principal, body, params }) => {
        const user = accounts.getOther(principal.user, params.id);
        const checkProof = await proof.require("admin", { request, set, principal, body });
        return ok(presentLink(await passwordLinks.issue(user, requestContextOf(request).baseUrl, checkProof)));
      },
    );
}

/** A link by which the user of an account sets a password, as in the API. */
function presentLink({ url, expiresAtMs }: PasswordLink) {
  return { url, expiresAt: toTimestamp(expiresAtMs) };
}

/** Changes that an API key may make: none of them gives access to the account. */
const KEY_CHANGES: ReadonlySet<string> = new Set(["plan", "quota", "name", "disabled"]);

/** Changes that could give somebody access to the account. */
const PROVEN_CHANGES = ["password", "email", "emailVerified", "role"] as const;

type AccountChanges = Omit<typeof AccountBody.static, "currentPassword" | "code" | "endKeys">;

/** @throws AppError scope for an API key that would change anything else; invalid_field */
function checkChanges({ key }: Principal, changes: AccountChanges, endKeys: boolean): void {
  const names = Object.keys(changes);
  if (key !== undefined && (endKeys || !names.every((field) => KEY_CHANGES.has(field)))) throw notByKey();
  if (endKeys && changes.password === undefined) {
    throw invalidField(
      "endKeys",
      say`API keys and app passwords can be ended only together with a password change. Send a password.`,
    );
  }
  if (names.length === 0)
    throw new AppError("invalid_field", say`The request contains no changes. Send at least one field.`);
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
