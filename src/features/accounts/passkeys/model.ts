import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";

const Base64Url = t.String({ maxLength: 16_384, pattern: "^[A-Za-z0-9_-]+$" });
const Name = t.String({ maxLength: 400, examples: ["Laptop"], description: "1 to 100 characters" });

/** The result of `navigator.credentials.create()` in JSON (WebAuthn, RegistrationResponseJSON). */
const RegistrationResponse = t.Object(
  {
    id: Base64Url,
    rawId: Base64Url,
    type: t.Literal("public-key"),
    response: t.Object({
      clientDataJSON: Base64Url,
      attestationObject: Base64Url,
      transports: t.Optional(t.Array(t.String({ maxLength: 32 }), { maxItems: 16 })),
    }),
  },
  { description: "RegistrationResponseJSON from the browser" },
);

/** POST /api/users/passkeys */
export const NewPasskeyBody = t.Object({ name: t.Optional(Name), response: RegistrationResponse });

/** PATCH /api/users/passkeys/{id} */
export const RenameBody = t.Object({ name: Name });

/** The result of `navigator.credentials.get()` in JSON (WebAuthn, AuthenticationResponseJSON). */
export const AuthenticationResponse = t.Object(
  {
    id: Base64Url,
    rawId: Base64Url,
    type: t.Literal("public-key"),
    response: t.Object({
      clientDataJSON: Base64Url,
      authenticatorData: Base64Url,
      signature: Base64Url,
      userHandle: t.Optional(t.String({ maxLength: 256, pattern: "^[A-Za-z0-9_-]*$" })),
    }),
  },
  { description: "AuthenticationResponseJSON from the browser" },
);

/** POST /api/auth/passkey/verify */
export const PasskeySignInBody = t.Object({
  response: AuthenticationResponse,
  cookie: t.Optional(t.Boolean({ description: "Also sets the session cookie, for browsers" })),
});

/** POST /api/auth/confirm/passkey */
export const PasskeyConfirmBody = t.Object({ response: AuthenticationResponse });

/** An entry of GET /api/users/passkeys */
export const PasskeyRecord = t.Object({
  id: t.String(),
  name: t.String(),
  rpId: t.String({ examples: ["files.example.org"], description: "The host name that it opens" }),
  backedUp: t.Boolean({ description: "Its provider syncs it to the owner's other devices" }),
  createdAt: Timestamp,
  lastUsedAt: t.Union([Timestamp, t.Null()]),
});

/** The options of a browser's WebAuthn call in JSON, with WebAuthn's field names. */
export const OptionsRecord = t.Object({
  options: t.Object({ challenge: t.String() }, { additionalProperties: true }),
});
