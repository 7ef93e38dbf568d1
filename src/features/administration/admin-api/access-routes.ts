/** /api/admin/users/{id}/sessions, devices and two-factor: the ways into an account (contract §2). */
import { Elysia, t } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import { PROOF_ERRORS } from "../../accounts/auth/confirm-routes.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { ProofBody } from "../../accounts/auth/model.ts";
import type { ProofService } from "../../accounts/auth/proof.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import { DeviceFactsRecord, RemovedDevice } from "../../mobile/devices/model.ts";
import { presentDeviceFacts, presentRemoved } from "../../mobile/devices/present.ts";
import type { DeviceService } from "../../mobile/devices/service.ts";
import { SessionItem } from "../../accounts/profile/model.ts";
import { presentSessionItem } from "../../accounts/profile/present.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AccountAdministration, Check } from "./service.ts";

/** The second factors of accounts. */
export interface TwoFactorControl {
  /** Takes all of an account's away, so that its password is enough again; durable on return. */
  disable(user: User, check: Check): Promise<void>;
}

/** What these routes work with. */
export interface AccessRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly auth: AuthService;
  readonly devices: DeviceService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly twoFactor: TwoFactorControl;
  readonly proof: ProofService;
}

const NEEDS_PROOF =
  "Needs proof: `currentPassword` (and `code`), or a confirmed session. On one's own account it is 403 role.";
const SessionParams = t.Object({ id: t.String(), sessionId: t.String() });
const AccountDeviceParams = t.Object({ id: t.String(), deviceId: t.String() });

/** See the head of this file. */
export function accessRoutes({ accounts, auth, devices, guard, twoFactor, proof }: AccessRoutesOptions) {
  return new Elysia({ name: "admin-access-routes", prefix: "/api/admin" })
    .use(guard)
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
          description: "Sessions of browsers, scripts and devices.",
          access: "admin",
          data: t.Object({ sessions: t.Array(SessionItem) }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .delete(
      "/users/:id/sessions",
      async ({ params, body, principal, request, set }) => {
        accounts.rejectOwn(principal.user, params.id, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        await accounts.endSessions(params.id, await proof.require(asking, body));
        return ok({ id: params.id }, "All sessions of the account have ended.");
      },
      {
        ...takesJson("admin", ProofBody, false),
        params: IdParams,
        ...documented({
          takesJson: true,
          tag: "Administration",
          summary: "End all sessions of an account, phones included",
          description: `Tokens stop working at once; API keys stay. ${NEEDS_PROOF}`,
          access: "admin",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
        }),
      },
    )
    .delete(
      "/users/:id/sessions/:sessionId",
      async ({ params, body, principal, request, set }) => {
        const { id, publicId } = accounts.get(params.id);
        accounts.rejectOwn(principal.user, publicId, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        await auth.endSession(id, params.sessionId, await proof.require(asking, body));
        return ok({ id: params.sessionId }, "The session has ended.");
      },
      {
        ...takesJson("admin", ProofBody, false),
        params: SessionParams,
        ...documented({
          takesJson: true,
          tag: "Administration",
          summary: "End a session of an account",
          description: `Its token stops working at once. ${NEEDS_PROOF}`,
          access: "admin",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
        }),
      },
    )
    .get(
      "/users/:id/devices",
      ({ params }) => ok({ devices: devices.list(accounts.get(params.id).id).map(presentDeviceFacts) }),
      {
        access: "admin",
        params: IdParams,
        ...documented({
          tag: "Administration",
          summary: "Devices of an account",
          description: "Registered phones and computers.",
          access: "admin",
          data: t.Object({ devices: t.Array(DeviceFactsRecord) }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .delete(
      "/users/:id/devices/:deviceId",
      async ({ params, body, principal, request, set }) => {
        const { id, publicId } = accounts.get(params.id);
        accounts.rejectOwn(principal.user, publicId, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        const removed = await devices.remove(id, params.deviceId, await proof.require(asking, body));
        return ok(presentRemoved(removed), "The device is removed and signed out.");
      },
      {
        ...takesJson("admin", ProofBody, false),
        params: AccountDeviceParams,
        ...documented({
          takesJson: true,
          tag: "Administration",
          summary: "Remove a device of an account",
          description: `Its tokens stop working at once. ${NEEDS_PROOF}`,
          access: "admin",
          data: RemovedDevice,
          errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
        }),
      },
    )
    .delete(
      "/users/:id/two-factor",
      async ({ params, body, principal, request, set }) => {
        const user = accounts.get(params.id);
        accounts.rejectOwn(principal.user, user.publicId, {});
        const asking = { request, headers: set.headers, principal, access: "admin" } as const;
        await twoFactor.disable(user, await proof.require(asking, body));
        return ok({ id: params.id }, "The password alone signs in again.");
      },
      {
        ...takesJson("admin", ProofBody, false),
        params: IdParams,
        ...documented({
          takesJson: true,
          tag: "Administration",
          summary: "Take an account's second factors away, for an owner who lost theirs",
          description: `Authenticator apps and recovery codes end; the password stays. ${NEEDS_PROOF}`,
          access: "admin",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
        }),
      },
    );
}
