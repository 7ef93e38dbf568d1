import { t } from "elysia";

/** POST /api/auth/email/confirm */
export const ConfirmBody = t.Object({
  token: t.String({ minLength: 1, maxLength: 200, description: "From the link in the email" }),
});

/** The response of POST /api/auth/email/confirm. */
export const ConfirmedRecord = t.Object({ email: t.String(), emailVerified: t.Literal(true) });

/** The response of POST /api/auth/email/send. */
export const SentRecord = t.Object({
  email: t.String(),
  emailVerified: t.Boolean(),
  sent: t.Boolean({ description: "false if the address is already confirmed" }),
});
