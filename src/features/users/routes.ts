import { Elysia, t } from "elysia";
import type { Transaction } from "../../db/transaction.ts";
import { invalidField } from "../../errors.ts";
import { noteAudit } from "../../http/audit-note.ts";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { IdParams } from "../../http/fields.ts";
import type { Events } from "../../events/events.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { type Principal, sessionOf } from "../auth/principal.ts";
import type { AuthService, CheckedUser } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { changeProfile } from "./change-profile.ts";
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
import type { UserService } from "./service.ts";
import { changeSettings, readSettings } from "./settings.ts";

/** What the routes about one's own account work with. */
export interface UserRoutesOptions {
  readonly users: UserService;
  readonly auth: AuthService;
  readonly events: Events;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  /** GET /api/users/usage, as `features/plans` reckons it. */
  readonly usageOf: (principal: Principal) => object;
  /** How many earlier versions of a file are kept where the user has not said it. */
  readonly keptVersions: number;
  /** Ends the account for good. */
  readonly eraseAccount: (principal: Principal) => Promise<void>;
}

/** /api/users/* (contract §6). */
export function userRoutes({
  users,
  auth,
  events,
  guard,
  rateGate,
  usageOf,
  keptVersions,
  eraseAccount,
}: UserRoutesOptions) {
  /** Runs only with the account's own password; wrong ones count as failed sign-ins do. */
  const checkOwnPassword = (
    request: Request,
    headers: Record<string, string | number>,
    principal: Principal,
    password: string,
  ) =>
    rateGate.guardPassword(request, headers, principal.user.email, () =>
      auth.checkPassword(principal.user.email, password),
    );

  return new Elysia({ name: "user-routes", prefix: "/api/users" })
    .use(guard)
    .get("/profile", ({ principal }) => ok(presentProfile(principal.user)), {
      access: "self",
      ...documented({ tag: "Users", summary: "One's own profile", access: "self", data: ProfileRecord }),
    })
    .put(
      "/profile",
      async ({ principal, body, request, set }) => {
        let checked: CheckedUser | undefined;
        if (body.email !== undefined || body.newPassword !== undefined) {
          sessionOf(principal);
          if (body.currentPassword === undefined) {
            throw invalidField("currentPassword", "Give the current password to change the e-mail or the password.");
          }
          checked = await checkOwnPassword(request, set.headers, principal, body.currentPassword);
        }
        noteAudit(request, { action: profileActionOf(body) });
        return ok(presentProfile(await changeProfile({ users, auth, events }, principal, body, checked)));
      },
      {
        ...takesJson("self", ProfileBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Change name, e-mail or password",
          description: "E-mail and password need currentPassword. A new password ends all other sessions.",
          access: "self",
          data: ProfileRecord,
          errors: ["bad_credentials", "email_taken"],
        }),
      },
    )
    .delete(
      "/profile",
      async ({ principal, body, request, set }) => {
        await checkOwnPassword(request, set.headers, principal, body.password);
        await eraseAccount(principal);
        return ok({ id: principal.user.publicId }, "The account and all its files are deleted.");
      },
      {
        ...takesJson("self", EraseBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Erase the account with all its files",
          access: "self",
          data: t.Object({ id: t.String() }),
          errors: ["bad_credentials", "last_admin"],
        }),
      },
    )
    .get("/settings", ({ principal }) => ok(readSettings(users.settingsJson(principal.user.id), keptVersions)), {
      access: "self",
      ...documented({ tag: "Users", summary: "Settings", access: "self", data: SettingsRecord }),
    })
    .put(
      "/settings",
      async ({ principal, body }) => {
        const { id: accountId } = principal.user;
        const tell = (tx: Transaction) => {
          if (body.notifications !== undefined) events.emit(tx, "settings.notifications_changed", { accountId });
        };
        const json = await users.changeSettings(accountId, (stored) => changeSettings(stored, body), tell);
        return ok(readSettings(json, keptVersions));
      },
      {
        ...takesJson("self", SettingsBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Change settings; what is not named stays",
          access: "self",
          data: SettingsRecord,
        }),
      },
    )
    .get("/usage", ({ principal }) => ok(usageOf(principal)), {
      access: "self",
      ...documented({ tag: "Users", summary: "Storage and transfers used", access: "self", data: UsageRecord }),
    })
    .get("/usage/rate-limits", ({ principal, request }) => ok(rateGate.usageOf(principal.user, request)), {
      access: "self",
      ...documented({ tag: "Users", summary: "Requests used in each window", access: "self", data: RateLimitUsage }),
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
