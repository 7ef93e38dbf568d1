/** What a user may do: `admin` manages accounts, `user` stores files, `viewer` only reads. */
export type Role = "admin" | "user" | "viewer";

/** Which limits apply to a user. */
export type PlanName = "free" | "pro" | "enterprise";

/** All roles, for validation and help texts. */
export const ROLES: readonly Role[] = ["admin", "user", "viewer"];

/** All plans, smallest first. */
export const PLAN_NAMES: readonly PlanName[] = ["free", "pro", "enterprise"];

/** A person with an account. `id` is internal; the API shows `publicId`. */
export interface User {
  readonly id: number;
  readonly publicId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly plan: PlanName;
  /** Bytes that this account may store: a number, null for no limit, undefined for the quota of the plan. */
  readonly quotaBytes: number | null | undefined;
  readonly disabledAtMs: number | null;
  readonly createdAtMs: number;
  /** The email must be confirmed before the account shares anything, and before it opens shares for that email. */
  readonly isEmailUnconfirmed?: boolean;
  /** The device that makes the current request, if it is one. The journal records it with the changes. */
  readonly viaDeviceId?: number | undefined;
  /** The lock tokens that the current request names, if its user made these locks. See {@link TreeWriter.withLockTokens}. */
  readonly lockTokens?: readonly string[] | undefined;
}

/** The input for a new account from an administrator or a command. */
export interface NewUser {
  readonly email: string;
  readonly name?: string;
  readonly role: Role;
  readonly plan: PlanName;
  readonly quotaBytes?: number | null | undefined;
  /** Undefined if nobody knows it until the user sets one with a link. */
  readonly password: string | undefined;
  /** An administrator creates it, and may give it an address that looks like another account's. */
  readonly isByAdministrator?: boolean;
  /** The email is known to be its owner's: from a provider, or because an administrator named it. */
  readonly isEmailConfirmed?: boolean;
  /** That of the browser in which the account is created; undefined if unknown. */
  readonly language?: string | undefined;
}

/** The changes to an account that an administrator or a command may make; absent fields stay. */
export interface UserChanges {
  readonly email?: string;
  /** An administrator changes it, and may give it an address that looks like another account's. */
  readonly isByAdministrator?: boolean;
  readonly name?: string;
  readonly role?: Role;
  readonly plan?: PlanName;
  /** Whether the email counts as confirmed. */
  readonly isEmailConfirmed?: boolean;
  /** `plan`: no longer a quota of its own. */
  readonly quotaBytes?: number | "plan" | null;
  readonly isDisabled?: boolean;
  readonly password?: string;
}
