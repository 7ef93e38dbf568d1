import { t } from "elysia";
import { Timestamp } from "../../http/fields.ts";

const Email = t.String({ maxLength: 320, examples: ["ada@example.org"], description: "Valid e-mail address" });
const Password = t.String({ minLength: 8, maxLength: 2048, description: "8 to 256 characters, any Unicode" });

/** POST /api/auth/signin */
export const SignInBody = t.Object({
  email: Email,
  password: Password,
  cookie: t.Optional(t.Boolean({ description: "Also sets the session cookie, for browsers" })),
});

/** POST /api/auth/signup */
export const SignUpBody = t.Object({
  email: Email,
  password: Password,
  name: t.Optional(t.String()),
  invite: t.Optional(t.String({ description: "Where sign-up is by invitation" })),
});

/** POST /api/auth/signout */
export const SignOutBody = t.Object({
  everywhere: t.Optional(t.Boolean({ description: "Ends all of the user's sessions" })),
});

/** api.md, User */
export const UserRecord = t.Object({ id: t.String(), email: t.String(), name: t.String() });

/** The device that a session belongs to. */
export const SessionDevice = t.Object({ id: t.String(), name: t.String() });

/** A sign-in as its own user sees it. */
export const SessionRecord = t.Object({
  id: t.String(),
  kind: t.String({ enum: ["web", "mobile", "cli"] }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  device: t.Optional(SessionDevice),
});

/** Answer of signup, signin and refresh. */
export const SignedInAnswer = t.Object({
  success: t.Literal(true),
  user: UserRecord,
  token: t.String({ description: "JWT, sent as Authorization: Bearer …" }),
  expiresIn: t.String({ examples: ["24h"] }),
});

/** Answer of GET /api/auth/session. */
export const SessionAnswer = t.Object({ success: t.Literal(true), user: UserRecord, session: SessionRecord });
