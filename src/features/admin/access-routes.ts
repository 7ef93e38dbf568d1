/** /api/admin/users/{id}/sessions, devices and two-factor: the ways into an account (contract §2). */
import { Elysia, t } from "elysia";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { IdParams } from "../../http/fields.ts";
import type { authGuard } from "../auth/guard.ts";
import type { AuthService } from "../auth/service.ts";
import { DeviceFactsRecord, RemovedDevice } from "../devices/model.ts";
import { presentDeviceFacts, presentRemoved } from "../devices/present.ts";
import type { DeviceService } from "../devices/service.ts";
import { SessionItem } from "../users/model.ts";
import { presentSessionItem } from "../users/present.ts";
import type { User } from "../users/types.ts";
import type { AccountAdministration } from "./service.ts";

/** The second factors of accounts. */
export interface TwoFactorControl {
  /** Takes all of an account's away, so that its password is enough again; durable on return. */
  disable(user: User): Promise<void>;
}

/** What these routes work with. */
export interface AccessRoutesOptions {
  readonly accounts: AccountAdministration;
  readonly auth: AuthService;
  readonly devices: DeviceService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly twoFactor: TwoFactorControl;
}

const SessionParams = t.Object({ id: t.String(), sessionId: t.String() });
const AccountDeviceParams = t.Object({ id: t.String(), deviceId: t.String() });

/** See the head of this file. */
export function accessRoutes({ accounts, auth, devices, guard, twoFactor }: AccessRoutesOptions) {
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
      ({ params }) => ok({ devices: devices.list(accounts.get(params.id).id).map(presentDeviceFacts) }),
      {
        access: "admin",
        params: IdParams,
        ...documented({
          tag: "Administration",
          summary: "Devices of an account",
          access: "admin",
          data: t.Object({ devices: t.Array(DeviceFactsRecord) }),
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
    );
}
