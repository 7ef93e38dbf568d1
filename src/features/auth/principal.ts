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

/** A registered device, as it asks. */
export interface DeviceRef {
  /** Key inside the database. */
  readonly id: number;
  /** As the device chose it. */
  readonly publicId: string;
  readonly name: string;
}

/** A sign-in in the list of them. */
export interface ListedSession extends Session {
  /** The device that is signed in by it; there for kind `mobile` alone. */
  readonly device: DeviceRef | undefined;
}

/** Who asks: a user by one of their sessions. */
export interface Principal {
  readonly user: User;
  readonly session: Session;
  /** The device that the session belongs to; there for every session of kind `mobile`, and for no other. */
  readonly device?: DeviceRef | undefined;
}

/** Where a request came from, as far as a session remembers it. */
export interface ClientInfo {
  readonly address: string;
  readonly userAgent: string | undefined;
}
