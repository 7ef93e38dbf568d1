import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../users/types.ts";
import type { Scope } from "./scopes.ts";

/** A sign-in. */
export interface Session {
  readonly publicId: string;
  /** Public id of the session that the sign-in began with; a refresh keeps it. */
  readonly originId: string;
  readonly kind: "web" | "mobile" | "cli";
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastSeenAtMs: number;
  readonly userAgent: string | null;
  readonly clientAddress: string | null;
}

/** A registered device, as the sender of a request. */
export interface DeviceRef {
  /** Row id. */
  readonly id: number;
  /** Chosen by the device. */
  readonly publicId: string;
  readonly name: string;
}

/** A sign-in in the list of sessions. */
export interface ListedSession extends Session {
  /** The device that it signs in; only for the kind `mobile`. */
  readonly device: DeviceRef | undefined;
}

/** An API key, as the sender of a request. */
interface KeyRef {
  readonly publicId: string;
  /** The scopes of the key, within the role of its user. */
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  /** Null for a key that lasts until it is deleted. */
  readonly expiresAtMs: number | null;
}

/** A user who is signed in with a session. */
export interface SessionPrincipal {
  readonly user: User;
  readonly session: Session;
  /** The device of the session; set for every session of kind `mobile`, and for no other. */
  readonly device?: DeviceRef | undefined;
  readonly key?: undefined;
  readonly appPassword?: undefined;
}

/** A user for whom a script sends requests with an API key. */
export interface KeyPrincipal {
  readonly user: User;
  readonly key: KeyRef;
  readonly session?: undefined;
  readonly device?: undefined;
  readonly appPassword?: undefined;
}

/** An app password, as the sender of a request. */
export interface AppPasswordRef {
  /** Row id. */
  readonly id: number;
  /** Row id of its hidden device, which the journal and the undo records refer to. */
  readonly deviceId: number;
  readonly publicId: string;
  readonly name: string;
  /** Whether it may change files, also according to the role of its user. */
  readonly canWrite: boolean;
  /** Row id of the only folder that it opens; null for the whole tree. */
  readonly folderId: number | null;
}

/** A user for whom a program sends requests with an app password, by WebDAV or as a sync client. */
export interface AppPasswordPrincipal {
  /** `viaDeviceId` is the hidden device of the app password. */
  readonly user: User;
  readonly appPassword: AppPasswordRef;
  readonly session?: undefined;
  readonly key?: undefined;
  readonly device?: undefined;
}

/** The caller of the API: a user, through one of their sessions or API keys. */
export type Principal = SessionPrincipal | KeyPrincipal;

/** The caller of any address. App passwords call only those of `access: "client"`. */
export type Caller = Principal | AppPasswordPrincipal;

/**
 * The sender of an upload, which may take long. `confirm` is called when the bytes have arrived, and again inside the
 * transaction that uses them.
 */
export interface Uploader {
  readonly user: User;
  /** Synchronous. @throws AppError if the sender may no longer write: signed out, disabled, demoted, key deleted */
  readonly confirm: () => void;
}

/** The origin of a request, as a session stores it. */
export interface ClientInfo {
  readonly address: string;
  readonly userAgent: string | undefined;
  /** The language that it asks for, which an account without one takes over; undefined if it states none. */
  readonly language?: string | undefined;
}

/**
 * The session of the request, for actions that no API key can do: keys, sessions, passwords, the deletion of the
 * account.
 * @throws AppError scope
 */
export function sessionOf(principal: Principal): Session {
  if (principal.session !== undefined) return principal.session;
  throw notByKey();
}

/** The session of the request, with its user. @throws AppError scope */
export function sessionPrincipalOf(principal: Principal): SessionPrincipal {
  if (principal.session !== undefined) return principal;
  throw notByKey();
}

/** The error for actions that a stolen phone must not do. */
export function notByDevice(): AppError {
  return new AppError("scope", say`A device can't do this. Sign in with your email and password.`, { scope: null });
}

/** The error for actions that no API key may do. */
export function notByKey(): AppError {
  return new AppError("scope", say`An API key can't do this. Sign in with your email and password.`, {
    scope: null,
  });
}

/** Whether a user may change files. @throws AppError role */
export function checkWriter({ role }: Pick<User, "role">): void {
  if (role !== "viewer") return;
  throw new AppError(
    "role",
    say`Your account can view files but not change them. Ask your administrator for another role.`,
  );
}

/** Whether an app password may change files now. @throws AppError role | scope */
export function checkAppPasswordWrites({ user, appPassword }: AppPasswordPrincipal): void {
  checkWriter(user);
  if (appPassword.canWrite) return;
  throw new AppError("scope", say`This app password can only read. Create one that may change files.`, {
    scope: "files:write",
  });
}
