import type { PlanName, Role } from "../users/types.ts";

/** The state of an invitation. */
export type InviteState = "open" | "used" | "expired";

/** An invitation. Only the hash of its token is stored. */
export interface Invite {
  readonly publicId: string;
  /** The only address that can use it; null for any. */
  readonly email: string | null;
  readonly role: Role;
  /** Null for the default plan. */
  readonly plan: PlanName | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
  /** Emails, if the accounts still exist. `createdBy` is null for the command line too. */
  readonly createdBy: string | null;
  readonly usedBy: string | null;
}

/** Settings of a new invitation. */
export interface NewInvite {
  readonly email?: string | undefined;
  readonly role: Role;
  readonly plan?: PlanName | undefined;
  /** Default: in 7 days. */
  readonly expiresAtMs?: number | undefined;
  /** The inviting administrator; undefined for the command line. */
  readonly by?: { readonly id: number; readonly name: string } | undefined;
}
