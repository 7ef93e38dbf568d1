/** /api/admin/users/{id}/sessions, devices and two-factor: what gives access to an account. */
import { t } from "elysia";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { ProofBody } from "../../accounts/auth/model.ts";
import type { ProofService } from "../../accounts/auth/proof.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import { presentDeviceFacts, presentRemoved } from "../../mobile/devices/present.ts";
import type { DeviceService } from "../../mobile/devices/service.ts";
import { presentSessionItem } from "../../accounts/profile/present.ts";
import type { User } from "../../accounts/users/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import type { AccountAdministration, Check } from "./service.ts";

/** The second factors of accounts. */
export interface TwoFactorControl {
  /** Takes all of an account's away, so that its password is enough again; durable when this returns. */
  disable(user: User, check: Check): Promise<void>;
}

/** Dependencies of these routes. */
export interface AccessRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly auth: AuthService;
  readonly devices: DeviceService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly twoFactor: TwoFactorControl;
  readonly proof: ProofService;
}
const SessionParams = t.Object({ id: t.String(), sessionId: t.String() });
const AccountDeviceParams = t.Object({ id: t.String(), deviceId: t.String() });

export function accessRoutes({ accounts, auth, devices, guard, twoFactor, proof }: AccessRoutesOptions) {
  return new Router({ name: "admin-access-routes", prefix: "/api/admin", guard })
    .get(
      "/users/:id/sessions",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "admin.read", write: "rejections" },
        docs: docs.listSessions,
        params: IdParams,
      },
      ({ params, principal }) =>
        ok({
          sessions: auth
            .listSessions(accounts.get(params.id).id)
            .map((session) => presentSessionItem(session, principal.session)),
        }),
    )
    .delete(
      "/users/:id/sessions",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "user.end_sessions", target: "user", targetParam: "id" },
        docs: docs.endSessions,
        params: IdParams,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ params, body, principal, request, set }) => {
        accounts.rejectOwn(principal.user, params.id, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        await accounts.endSessions(params.id, await proof.require(asking, body));
        return ok({ id: params.id }, "The account is signed out everywhere.");
      },
    )
    .delete(
      "/users/:id/sessions/:sessionId",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "user.end_session", target: "session", targetParam: "sessionId", accountParam: "id" },
        docs: docs.endSession,
        params: SessionParams,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ params, body, principal, request, set }) => {
        const { id, publicId } = accounts.get(params.id);
        accounts.rejectOwn(principal.user, publicId, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        await auth.endSession(id, params.sessionId, await proof.require(asking, body));
        return ok({ id: params.sessionId }, "The session is signed out.");
      },
    )
    .get(
      "/users/:id/devices",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "admin.read", write: "rejections" },
        docs: docs.listDevices,
        params: IdParams,
      },
      ({ params }) => ok({ devices: devices.list(accounts.get(params.id).id).map(presentDeviceFacts) }),
    )
    .delete(
      "/users/:id/devices/:deviceId",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "user.remove_device", target: "device", targetParam: "deviceId", accountParam: "id" },
        docs: docs.removeDevice,
        params: AccountDeviceParams,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ params, body, principal, request, set }) => {
        const { id, publicId } = accounts.get(params.id);
        accounts.rejectOwn(principal.user, publicId, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        const removed = await devices.remove(id, params.deviceId, await proof.require(asking, body));
        return ok(presentRemoved(removed), "The device was removed and signed out.");
      },
    )
    .delete(
      "/users/:id/two-factor",
      {
        access: "admin",
        scope: "never",
        rate: "general",
        audit: { action: "user.disable_two_factor", target: "user", targetParam: "id" },
        docs: docs.disableTwoFactor,
        params: IdParams,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ params, body, principal, request, set }) => {
        const user = accounts.get(params.id);
        accounts.rejectOwn(principal.user, user.publicId, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        await twoFactor.disable(user, await proof.require(asking, body));
        return ok({ id: params.id }, "Two-factor authentication is off for this account.");
      },
    );
}
