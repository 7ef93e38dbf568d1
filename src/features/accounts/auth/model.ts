import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { SCOPES } from "./scopes.ts";

const Email = t.String({ maxLength: 320, examples: ["ada@example.org"], description: "Valid email address" });
const Password = t.String({ minLength: 8, maxLength: 2048, description: "8 to 256 characters, any Unicode" });

/** A code of a second factor. */
export const Code = t.String({
  maxLength: 64,
  examples: ["123456"],
  description: "From the authenticator app, or a recovery code; only with two-factor authentication",
});

/** The password of the account, as proof. */
export const ProofPassword = t.String({
  maxLength: 2048,
  description: "Proof; or confirm the session first: POST /api/auth/confirm",
});

/** Proof of the owner, added to the bodies of requests that need it. */
export const PROOF_FIELDS = {
  currentPassword: t.Optional(ProofPassword),
  code: t.Optional(Code),
};

/** The body of a request that needs proof and nothing else. */
export const ProofBody = t.Object(PROOF_FIELDS);

/** Declares a route with such a body, which may be left out if the session is confirmed. */
export const WITH_PROOF = { body: ProofBody, isBodyOptional: true } as const;

/** POST /api/auth/confirm */
export const ConfirmBody = t.Object({ currentPassword: t.String({ maxLength: 2048 }), code: t.Optional(Code) });

/** Response of everything that confirms a session. */
export const ConfirmedRecord = t.Object({ confirmedUntil: Timestamp });

/** POST /api/auth/signin */
export const SignInBody = t.Object({
  email: Email,
  password: Password,
  code: t.Optional(Code),
  cookie: t.Optional(t.Boolean({ description: "Also sets the session cookie, for browsers" })),
});

/** POST /api/auth/signup */
export const SignUpBody = t.Object({
  email: Email,
  password: Password,
  name: t.Optional(t.String()),
  invite: t.Optional(t.String({ description: "Required if sign-up is by invitation" })),
  cookie: t.Optional(t.Boolean({ description: "Also sets the session cookie, for browsers" })),
});

/** POST /api/auth/signout */
export const SignOutBody = t.Object({
  everywhere: t.Optional(t.Boolean({ description: "Ends all of the user's sessions" })),
});

/** An account in the responses of sign-in. */
export const UserRecord = t.Object({ id: t.String(), email: t.String(), name: t.String() });

/** The device that a session belongs to. */
export const SessionDevice = t.Object({ id: t.String(), name: t.String() });

/** A scope as an API key has it. */
export const ScopeName = t.String({ enum: [...SCOPES] });

/** A sign-in as its own user sees it; an API key shows itself as one. */
export const SessionRecord = t.Object({
  id: t.String(),
  kind: t.String({ enum: ["web", "mobile", "cli", "key"] }),
  createdAt: Timestamp,
  expiresAt: t.Union([Timestamp, t.Null()], { description: "null for an API key that does not expire" }),
  device: t.Optional(SessionDevice),
  confirmedUntil: t.Optional(
    t.Union([Timestamp, t.Null()], { description: "While it counts as confirmed: POST /api/auth/confirm" }),
  ),
  scopes: t.Optional(t.Array(ScopeName, { description: "Of an API key" })),
});

/** Response of signup, signin and refresh. */
export const SignedInResponse = t.Object({
  success: t.Literal(true),
  user: UserRecord,
  token: t.String({ description: "JWT, sent as Authorization: Bearer …" }),
  expiresIn: t.String({ examples: ["24h"] }),
});

/** Response of GET /api/auth/session. */
export const SessionResponse = t.Object({ success: t.Literal(true), user: UserRecord, session: SessionRecord });
