/** /api/admin/users/{id}/sessions, devices, app-passwords and two-factor: what gives access to an account. */
import { t } from "elysia";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import { presentWithoutFolder } from "../../accounts/app-passwords/present.ts";
import type { AppPasswordService } from "../../accounts/app-passwords/service.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { WITH_PROOF } from "../../accounts/auth/model.ts";
import type { ProofService, TransactionCheck } from "../../accounts/auth/proof.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import { presentDeviceDetails, presentRemoved } from "../../mobile/devices/present.ts";
import type { DeviceService } from "../../mobile/devices/service.ts";
import { presentSessionItem } from "../../accounts/profile/present.ts";
import type { User } from "../../accounts/users/types.ts";
import { ADMIN_READ, ADMIN_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import type { AccountAdministration } from "./service.ts";

/** Controls the second factors of accounts. */
interface TwoFactorControl {
  /** Removes all second factors of an account, so that its password is enough again; durable when this returns. */
  disable(user: User, check: TransactionCheck): Promise<void>;
}

/** Dependencies of these routes. */
export interface AccessRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly appPasswords: AppPasswordService;
  readonly auth: AuthService;
  readonly devices: DeviceService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly twoFactor: TwoFactorControl;
  readonly proof: ProofService;
}

const SessionParams = t.Object({ id: t.String(), sessionId: t.String() });
const AppPasswordParams = t.Object({ id: t.String(), appPasswordId: t.String() });
const AccountDeviceParams = t.Object({ id: t.String(), deviceId: t.String() });
/** API keys can neither list nor change what gives access to an account. */
const READ = { ...ADMIN_READ, scope: "never" } as const;
const CHANGE = { ...ADMIN_ROUTE, ...WITH_PROOF, scope: "never" } as const;

export function accessRoutes({ accounts, auth, devices, guard, proof }: AccessRoutesOptions) {
  return new Router({ prefix: "/api/admin", guard })
    .get("/users/:id/sessions", { ...READ, docs: docs.listSessions, params: IdParams }, ({ params, principal }) => {
      const sessions = auth.listSessions(accounts.get(params.id).id);
      return ok({ sessions: sessions.map((session) => presentSessionItem(session, principal.session)) });
    })
    .delete(
      "/users/:id/sessions",
      {
        ...CHANGE,
        audit: { action: "user.end_sessions", target: "user", targetParam: "id" },
        docs: docs.endSessions,
        params: IdParams,
      },
      async ({ request, set, principal, body, params }) => {
        accounts.rejectOwn(principal.user, params.id, {});
        await accounts.endSessions(params.id, await proof.require("admin", { request, set, principal, body }));
        return ok({ id: params.id }, "The account is signed out everywhere.");
      },
    )
    .delete(
      "/users/:id/sessions/:sessionId",
      {
        ...CHANGE,
        audit: { action: "user.end_session", target: "session", targetParam: "sessionId", accountParam: "id" },
        docs: docs.endSession,
        params: SessionParams,
      },
      async ({ request, set, principal, body, params }) => {
        const user = accounts.getOther(principal.user, params.id);
        const checkProof = await proof.require("admin", { request, set, principal, body });
        await auth.endSession(user.id, params.sessionId, checkProof);
        return ok({ id: params.sessionId }, "The session is signed out.");
      },
    )
    .get("/users/:id/devices", { ...READ, docs: docs.listDevices, params: IdParams }, ({ params }) =>
      ok({ devices: devices.list(accounts.get(params.id).id).map(presentDeviceDetails) }),
    )
    .delete(
      "/users/:id/devices/:deviceId",
      {
        ...CHANGE,
        audit: { action: "user.remove_device", target: "device", targetParam: "deviceId", accountParam: "id" },
        docs: docs.removeDevice,
        params: AccountDeviceParams,
      },
      async ({ request, set, principal, body, params }) => {
        const user = accounts.getOther(principal.user, params.id);
        const checkProof = await proof.require("admin", { request, set, principal, body });
        const removed = await devices.remove(user.id, params.deviceId, checkProof);
        return ok(presentRemoved(removed), "The device was removed and signed out.");
      },
    );
}

/** /api/admin/users/{id}/app-passwords and two-factor. */
export function factorRoutes({ accounts, appPasswords, guard, twoFactor, proof }: AccessRoutesOptions) {
  return new Router({ prefix: "/api/admin", guard })
    .get("/users/:id/app-passwords", { ...READ, docs: docs.listAppPasswords, params: IdParams }, ({ params }) =>
      ok({ appPasswords: appPasswords.list(accounts.get(params.id).id).map(presentWithoutFolder) }),
    )
    .delete(
      "/users/:id/app-passwords/:appPasswordId",
      {
        ...CHANGE,
        audit: {
          action: "user.end_app_password",
          target: "app_password",
          targetParam: "appPasswordId",
          accountParam: "id",
        },
        docs: docs.endAppPassword,
        params: AppPasswordParams,
      },
      async ({ request, set, principal, body, params }) => {
        const user = accounts.getOther(principal.user, params.id);
        const checkProof = await proof.require("admin", { request, set, principal, body });
        await appPasswords.revoke(user.id, params.appPasswordId, checkProof);
        return ok({ id: params.appPasswordId }, "The app password no longer works.");
      },
    )
    .delete(
      "/users/:id/two-factor",
      {
        ...CHANGE,
        audit: { action: "user.disable_two_factor", target: "user", targetParam: "id" },
        docs: docs.disableTwoFactor,
        params: IdParams,
      },
      async ({ request, set, principal, body, params }) => {
        const user = accounts.getOther(principal.user, params.id);
        await twoFactor.disable(user, await proof.require("admin", { request, set, principal, body }));
        return ok({ id: params.id }, "Two-factor authentication is off for this account.");
      },
    );
}
