/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConfirmedRecord, SignedInResponse } from "../auth/model.ts";
import { OptionsRecord, PasskeyRecord } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { t } from "elysia";

export const listPasskeys = (): RouteDocs => ({
  tag: "Users",
  summary: "One's own passkeys, newest first",
  description: "Names and dates; a passkey itself never leaves its device.",
  data: t.Object({ passkeys: t.Array(PasskeyRecord) }),
});

export const addOptions = (): RouteDocs => ({
  tag: "Users",
  summary: "Begin to add a passkey",
  description:
    "Gives what navigator.credentials.create() takes (PublicKeyCredentialCreationOptionsJSON), good once and for " +
    "five minutes, in this session alone. Needs proof: `currentPassword` (and `code`), or a confirmed session. " +
    "Passkeys are for the host name of LARDER_PUBLIC_URL, or else of the request.",
  data: OptionsRecord,
  errors: [...PROOF_ERRORS],
});

export const addPasskey = (): RouteDocs => ({
  tag: "Users",
  summary: "Add the passkey that the browser made",
  description: "Takes the browser's response to the options of POST /api/users/passkeys/options.",
  status: 201,
  data: PasskeyRecord,
  errors: ["invalid_request"],
});

export const renamePasskey = (): RouteDocs => ({
  tag: "Users",
  summary: "Rename a passkey",
  description: "The name is for the account's owner alone.",
  data: PasskeyRecord,
  errors: ["not_found"],
});

export const deletePasskey = (): RouteDocs => ({
  tag: "Users",
  summary: "Remove a passkey",
  description: "It no longer signs in. Needs proof: `currentPassword` (and `code`), or a confirmed session.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
});

export const signInOptions = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Begin to sign in with a passkey",
  description:
    "Gives what navigator.credentials.get() takes (PublicKeyCredentialRequestOptionsJSON), good once and for five " +
    "minutes. It names no account: the authenticator knows whose passkeys it has.",
  data: OptionsRecord,
});

export const signIn = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Sign in with a passkey",
  description: "The authenticator has verified its user, so that this counts as both factors.",
  body: SignedInResponse,
  errors: ["bad_credentials", "account_disabled"],
});

export const confirmOptions = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Begin to confirm this session by a passkey",
  description:
    "Gives what navigator.credentials.get() takes (PublicKeyCredentialRequestOptionsJSON), good once, for five " +
    "minutes and for this session. 400 where the account has no passkey for this address.",
  data: OptionsRecord,
  errors: ["invalid_request"],
});

export const confirm = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Confirm this session by a passkey",
  description:
    "As POST /api/auth/confirm. The authenticator has verified its user, so that this counts as both factors.",
  data: ConfirmedRecord,
  errors: ["bad_credentials", "account_disabled"],
});
