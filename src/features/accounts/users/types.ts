/** What a user may do: `admin` manages accounts, `user` keeps files, `viewer` only reads. */
export type Role = "admin" | "user" | "viewer";

/** Which limits hold for a user. */
export type PlanName = "free" | "pro" | "enterprise";

/** All roles, for validation and help texts. */
export const ROLES: readonly Role[] = ["admin", "user", "viewer"];

/** All plans, smallest first. */
export const PLAN_NAMES: readonly PlanName[] = ["free", "pro", "enterprise"];

/** A person with an account. `id` stays inside; `publicId` is what the API shows. */
export interface User {
  readonly id: number;
  readonly publicId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly plan: PlanName;
  /** Bytes this account may hold: a number, null for no limit, undefined for what the plan gives. */
  readonly quotaBytes: number | null | undefined;
  readonly disabledAtMs: number | null;
  readonly createdAtMs: number;
  /** Its email must be confirmed before it shares anything, and before it opens shares for that email. */
  readonly isEmailUnconfirmed?: boolean;
  /** The device by which they ask just now, where it is one; the journal notes it with what they change. */
  readonly viaDeviceId?: number | undefined;
}

/** What an administrator or a command gives for a new account. */
export interface NewUser {
  readonly email: string;
  readonly name?: string;
  readonly role: Role;
  readonly plan: PlanName;
  readonly quotaBytes?: number | null | undefined;
  /** Undefined: nobody knows one until they set it by a link. */
  readonly password: string | undefined;
  /** An administrator makes it, and may give it an address that looks like another account's. */
  readonly isByAdministrator?: boolean;
  /** The email is known to be its owner's: by a provider, or because an administrator named it. */
  readonly isEmailConfirmed?: boolean;
}

/** What may be changed of an account by an administrator or a command; absent fields stay. */
export interface UserChanges {
  readonly email?: string;
  /** An administrator changes it, and may give it an address that looks like another account's. */
  readonly isByAdministrator?: boolean;
  readonly name?: string;
  readonly role?: Role;
  readonly plan?: PlanName;
  /** Whether the email counts as confirmed. */
  readonly isEmailConfirmed?: boolean;
  /** `plan`: no own one any longer. */
  readonly quotaBytes?: number | "plan" | null;
  readonly isDisabled?: boolean;
  readonly password?: string;
}
