import type { User } from "../users/types.ts";

/** A sign-in. */
export interface Session {
  readonly publicId: string;
  readonly kind: "web" | "mobile" | "cli";
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastSeenAtMs: number;
  readonly userAgent: string | null;
  readonly clientAddress: string | null;
}

/** Who asks: a user by one of their sessions. */
export interface Principal {
  readonly user: User;
  readonly session: Session;
}

/** Where a request came from, as far as a session remembers it. */
export interface ClientInfo {
  readonly address: string;
  readonly userAgent: string | undefined;
}
