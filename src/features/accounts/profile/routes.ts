import { Elysia, t } from "elysia";
import type { Transaction } from "../../../db/transaction.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import type { Events } from "../../../events/events.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { type Principal, sessionOf } from "../auth/principal.ts";
import type { ProofService, Proven } from "../auth/proof.ts";
import type { AuthService } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { changeProfile, type KeyEnder } from "./change-profile.ts";
import {
  EraseBody,
  ProfileBody,
  ProfileRecord,
  RateLimitUsage,
  SessionItem,
  SettingsBody,
  SettingsRecord,
  UsageRecord,
} from "./model.ts";
import { presentProfile, presentSessionItem } from "./present.ts";
import type { UserService } from "../users/service.ts";
import { changeSettings, readSettings } from "../users/settings.ts";

/** What the routes about one's own account work with. */
export interface UserRoutesOptions {
  readonly users: UserService;
  readonly auth: AuthService;
  readonly apiKeys: KeyEnder;
  readonly proof: ProofService;
  readonly events: Events;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  /** GET /api/users/usage, as `features/accounts/plans` reckons it. */
  readonly usageOf: (principal: Principal) => object;
  /** How many earlier versions of a file are kept where the user has not said it. */
  readonly versionsMax: number;
  /** Ends the account for good. */
  readonly eraseAccount: (principal: Principal, proven: Proven) => Promise<void>;
}

/** /api/users/* (contract §6). */
export function userRoutes({
  users,
  auth,
  apiKeys,
  proof,
  events,
  guard,
  rateGate,
  usageOf,
  versionsMax,
  eraseAccount,
}: UserRoutesOptions) {
  return new Elysia({ name: "user-routes", prefix: "/api/users" })
    .use(guard)
    .get("/profile", ({ principal }) => ok(presentProfile(principal.user)), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "One's own profile",
        description: "Name, e-mail, role and plan of the caller.",
        access: "self",
        data: ProfileRecord,
      }),
    })
    .put(
      "/profile",
      async ({ principal, body, request, set }) => {
        const asking = { request, headers: set.headers, principal, access: "self" } as const;
        const needsProof = body.email !== undefined || body.newPassword !== undefined;
        const proven = needsProof ? await proof.require(asking, body) : undefined;
        const details = body.endKeys === true ? { details: { endKeys: true } } : {};
        noteAudit(request, { action: profileActionOf(body), ...details });
        return ok(presentProfile(await changeProfile({ users, auth, apiKeys, events }, principal, body, proven)));
      },
      {
        ...takesJson("self", ProfileBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Change name, e-mail or password",
          description:
            "E-mail and password need proof: currentPassword (and code), or a confirmed session. A new password ends all " +
            "other sessions, and API keys with `endKeys`. Passkeys stay.",
          access: "self",
          data: ProfileRecord,
          errors: ["email_taken", ...PROOF_ERRORS],
        }),
      },
    )
    .delete(
      "/profile",
      async ({ principal, body, request, set }) => {
        const currentPassword = body.currentPassword ?? body.password;
        const asking = { request, headers: set.headers, principal, access: "self" } as const;
        const proven = await proof.require(asking, { currentPassword, code: body.code });
        await eraseAccount(principal, proven);
        return ok({ id: principal.user.publicId }, "The account and all its files are deleted.");
      },
      {
        ...takesJson("self", EraseBody, false),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Erase the account with all its files",
          description:
            "Files, links, devices and sessions end at once; this cannot be undone. Needs proof: `password` (and `code`), " +
            "or a confirmed session.",
          access: "self",
          data: t.Object({ id: t.String() }),
          errors: ["last_admin", ...PROOF_ERRORS],
        }),
      },
    )
    .get("/settings", ({ principal }) => ok(readSettings(users.settingsJson(principal.user.id), versionsMax)), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "Settings",
        description: "Language, time zone, theme, default view, notifications and how many versions are retained.",
        access: "self",
        data: SettingsRecord,
      }),
    })
    .put(
      "/settings",
      async ({ principal, body }) => {
        const { id: accountId } = principal.user;
        const tell = (tx: Transaction) => {
          if (body.notifications !== undefined) events.emit(tx, "settings.notifications_changed", { accountId });
        };
        const json = await users.changeSettings(accountId, (stored) => changeSettings(stored, body), tell);
        return ok(readSettings(json, versionsMax));
      },
      {
        ...takesJson("self", SettingsBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Change settings; what is not named stays",
          description: "Returns all settings as they are afterwards.",
          access: "self",
          data: SettingsRecord,
        }),
      },
    )
    .get("/usage", ({ principal }) => ok(usageOf(principal)), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "Storage and transfers used",
        description: "Bytes and counts of the caller's account against its plan, and transfers of the current month.",
        access: "self",
        data: UsageRecord,
      }),
    })
    .get("/usage/rate-limits", ({ principal, request }) => ok(rateGate.usageOf(principal.user, request)), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "Requests used in each window",
        description: "One record for each rate-limit category, used or not.",
        access: "self",
        data: RateLimitUsage,
      }),
    })
    .get(
      "/sessions",
      ({ principal }) =>
        ok({
          sessions: auth
            .listSessions(principal.user.id, sessionOf(principal))
            .map((session) => presentSessionItem(session, sessionOf(principal))),
        }),
      {
        access: "self",
        ...documented({
          tag: "Users",
          summary: "Where one is signed in",
          description: "Sessions of browsers, scripts and devices, with the address last seen.",
          access: "self",
          data: t.Object({ sessions: t.Array(SessionItem) }),
        }),
      },
    )
    .delete(
      "/sessions/:id",
      async ({ principal, params }) => {
        await auth.endSession(principal.user.id, params.id);
        return ok({ id: params.id }, "The session has ended.");
      },
      {
        access: "self",
        params: IdParams,
        ...documented({
          tag: "Users",
          summary: "End a session",
          description: "Its token stops working at once.",
          access: "self",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    );
}

/** What the audit log calls such a change: by the weightiest of its parts. */
function profileActionOf({ email, newPassword }: typeof ProfileBody.static): string {
  if (newPassword !== undefined) return email === undefined ? "password.change" : "credentials.change";
  return email === undefined ? "profile.change" : "email.change";
}
