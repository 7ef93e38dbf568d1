import type { Transaction } from "../../../db/transaction.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import type { Events } from "../../../events/events.ts";
import type { authGuard } from "../auth/guard.ts";
import { type Principal, sessionOf } from "../auth/principal.ts";
import type { ProofService, ProofCheck } from "../auth/proof.ts";
import type { AuthService } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { changeProfile, type CredentialRevoker } from "./change-profile.ts";
import { EraseBody, ProfileBody, SettingsBody } from "./model.ts";
import { presentProfile, presentSessionItem } from "./present.ts";
import type { User } from "../users/types.ts";
import type { UserService } from "../users/service.ts";
import { changeSettings, readSettings } from "../users/settings.ts";

/** Dependencies of the routes about one's own account. */
export interface UserRoutesOptions {
  readonly users: UserService;
  readonly auth: AuthService;
  readonly credentialRevoker: CredentialRevoker;
  readonly proof: ProofService;
  readonly events: Events;
  /** The versions of the pictures of people. */
  readonly avatars: { versionOf(userId: number): string | null };
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  /** GET /api/users/usage, calculated by `features/accounts/plans`. */
  readonly usageOf: (principal: Principal) => object;
  /** How many earlier versions of a file are retained unless the user has set a number. */
  readonly versionsMax: () => number;
  /** Deletes the account permanently. */
  readonly eraseAccount: (principal: Principal, checkProof: ProofCheck) => Promise<void>;
}

const OWN_ROUTE = { access: "self", scope: "profile", rate: "profile" } as const;

/** /api/users/profile and settings: the own account. */
export function userRoutes(options: UserRoutesOptions) {
  const { users, proof, events, guard, versionsMax, eraseAccount } = options;
  const present = (user: User) => presentProfile(user, options.avatars.versionOf(user.id));
  return new Router({ prefix: "/api/users", guard })
    .get("/profile", { ...OWN_ROUTE, audit: "unaudited", docs: docs.getProfile }, ({ principal }) =>
      ok(present(principal.user)),
    )
    .put(
      "/profile",
      {
        ...OWN_ROUTE,
        audit: { action: "profile.change", isGuess: true },
        docs: docs.updateProfile,
        body: ProfileBody,
      },
      async ({ request, set, principal, body }) => {
        const needsProof = body.email !== undefined || body.newPassword !== undefined;
        const checkProof = needsProof ? await proof.require("self", { request, set, principal, body }) : undefined;
        const details = body.endKeys === true ? { details: { endKeys: true } } : {};
        noteAudit(request, { action: profileActionOf(body), ...details });
        return ok(present(await changeProfile(options, principal, body, checkProof)));
      },
    )
    .delete(
      "/profile",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "account.erase", isGuess: true },
        docs: docs.deleteAccount,
        body: EraseBody,
        isBodyOptional: true,
      },
      async ({ request, set, principal, body }) => {
        const given = { currentPassword: body.currentPassword ?? body.password, code: body.code };
        const checkProof = await proof.require("self", { request, set, principal, body: given });
        await eraseAccount(principal, checkProof);
        return ok({ id: principal.user.publicId }, "The account and all its files were deleted.");
      },
    )
    .get("/settings", { ...OWN_ROUTE, audit: "unaudited", docs: docs.getSettings }, ({ principal }) =>
      ok(readSettings(users.settingsJson(principal.user.id), versionsMax())),
    )
    .put(
      "/settings",
      {
        ...OWN_ROUTE,
        audit: "unaudited",
        docs: docs.updateSettings,
        body: SettingsBody,
      },
      async ({ principal, body }) => {
        const { id: accountId } = principal.user;
        const emitChange = (tx: Transaction) => {
          if (body.notifications !== undefined) events.emit(tx, "settings.notifications_changed", { accountId });
        };
        const json = await users.changeSettings(accountId, (stored) => changeSettings(stored, body), emitChange);
        return ok(readSettings(json, versionsMax()));
      },
    );
}

/** /api/users/usage and sessions of the own account. */
export function ownUsageRoutes({ auth, guard, rateGate, usageOf }: UserRoutesOptions) {
  return new Router({ prefix: "/api/users", guard })
    .get(
      "/usage",
      { access: "self", scope: "profile", rate: "usage", audit: "unaudited", docs: docs.usage },
      ({ principal }) => ok(usageOf(principal)),
    )
    .get(
      "/usage/rate-limits",
      { access: "self", scope: "profile", rate: "usage", audit: "unaudited", docs: docs.rateLimits },
      ({ principal, request }) => ok(rateGate.usageOf(principal.user, request)),
    )
    .get(
      "/sessions",
      { access: "self", scope: "never", rate: "profile", audit: "unaudited", docs: docs.listSessions },
      ({ principal }) =>
        ok({
          sessions: auth
            .listSessions(principal.user.id, sessionOf(principal))
            .map((session) => presentSessionItem(session, sessionOf(principal))),
        }),
    )
    .delete(
      "/sessions/:id",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "session.end", target: "session", targetParam: "id" },
        docs: docs.endSession,
        params: IdParams,
      },
      async ({ principal, params }) => {
        await auth.endSession(principal.user.id, params.id);
        return ok({ id: params.id }, "The session is signed out.");
      },
    );
}

/** The audit action of such a change: that of its most important part. */
function profileActionOf({ email, newPassword }: typeof ProfileBody.static): string {
  if (newPassword !== undefined) return email === undefined ? "password.change" : "credentials.change";
  return email === undefined ? "profile.change" : "email.change";
}
