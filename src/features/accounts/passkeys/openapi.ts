/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConfirmedRecord, SignedInResponse } from "../auth/model.ts";
import { OptionsRecord, PasskeyRecord } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { t } from "elysia";

export const listPasskeys = (): RouteDocs => ({
  tag: "Users",
  summary: "List your passkeys, newest first",
  description: "Names and dates. A passkey itself never leaves its device.",
  data: t.Object({ passkeys: t.Array(PasskeyRecord) }),
});

export const addOptions = (): RouteDocs => ({
  tag: "Users",
  summary: "Start to add a passkey",
  description:
    "Returns the options for navigator.credentials.create(). They work once, for five minutes, in this session only. " +
    "Needs proof. Passkeys are bound to the host name of LARDER_PUBLIC_URL, or of the request if that is not set.",
  data: OptionsRecord,
  errors: [...PROOF_ERRORS],
});

export const addPasskey = (): RouteDocs => ({
  tag: "Users",
  summary: "Add a passkey",
  description: "Send the browser's response to the options of POST /api/users/passkeys/options.",
  status: 201,
  data: PasskeyRecord,
  errors: ["invalid_request"],
});

export const renamePasskey = (): RouteDocs => ({
  tag: "Users",
  summary: "Rename a passkey",
  description: "Only the owner of the account sees the name.",
  data: PasskeyRecord,
  errors: ["not_found"],
});

export const deletePasskey = (): RouteDocs => ({
  tag: "Users",
  summary: "Remove a passkey",
  description: "It can no longer be used to sign in. Needs proof.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const signInOptions = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Start a sign-in with a passkey",
  description:
    "Returns the options for navigator.credentials.get() (PublicKeyCredentialRequestOptionsJSON). They work once, " +
    "for five minutes. They name no account: the authenticator knows its passkeys.",
  data: OptionsRecord,
});

export const signIn = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Sign in with a passkey",
  description: "The authenticator verified the user, so this counts as both factors.",
  body: SignedInResponse,
  errors: ["bad_credentials", "account_disabled"],
});

export const confirmOptions = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Start to confirm this session with a passkey",
  description:
    "Returns the options for navigator.credentials.get() (PublicKeyCredentialRequestOptionsJSON). They work once, " +
    "for five minutes, in this session. 400 if the account has no passkey for this address.",
  data: OptionsRecord,
  errors: ["invalid_request"],
});

export const confirm = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Confirm this session with a passkey",
  description: "Like POST /api/auth/confirm. The authenticator verified the user, so this counts as both factors.",
  data: ConfirmedRecord,
  errors: ["bad_credentials", "account_disabled"],
});
