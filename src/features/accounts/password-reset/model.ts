import { t } from "elysia";

/** POST /api/auth/password/forgot */
export const ForgotBody = t.Object({
  email: t.String({ maxLength: 320, examples: ["ada@example.org"], description: "Valid email address" }),
});

/** POST /api/auth/password/reset */
export const ResetBody = t.Object({
  token: t.String({ minLength: 1, maxLength: 200, description: "From the link in the email" }),
  newPassword: t.String({ minLength: 8, maxLength: 2048, description: "8 to 256 characters, any Unicode" }),
  endKeys: t.Optional(t.Boolean({ description: "Ends all API keys of the account too" })),
});

/** Responses without data. */
export const MessageResponse = t.Object({ success: t.Literal(true), message: t.String() });
