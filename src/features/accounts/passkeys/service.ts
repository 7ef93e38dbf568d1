import type { Database } from "bun:sqlite";
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { TransactionCheck } from "../auth/proof.ts";
import type { Session, SessionPrincipal } from "../auth/principal.ts";
import { accountDisabled } from "../auth/rejections.ts";
import { checkName } from "../users/name.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { Challenges, type Purpose } from "./challenges.ts";
import { type PasskeyRow, passkeyQueries, toPasskey } from "./queries.ts";
import type { Passkey, PasskeyProof, Site } from "./types.ts";

/** Dependencies of {@link PasskeyService}. */
interface PasskeyServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly events: Events;
  readonly users: UserService;
}

const RP_NAME = "Larder";
const PASSKEYS_MAX = 20;
const NAME_CHARACTERS_MAX = 100;
const TIMEOUT_MS = 5 * 60 * 1000;
/** EdDSA, ES256, RS256 (RFC 8152, RFC 8230): the algorithms of authenticators. */
const ALGORITHMS = [-8, -7, -257];

/**
 * Passkeys (WebAuthn level 2), by the library @simplewebauthn/server. They are discoverable, and the authenticator
 * verifies the user, so that one passkey counts as both factors.
 */
export class PasskeyService {
  readonly #options: PasskeyServiceOptions;
  readonly #queries: ReturnType<typeof passkeyQueries>;
  readonly #challenges: Challenges;

  constructor(options: PasskeyServiceOptions) {
    this.#options = options;
    this.#queries = passkeyQueries(options.sqlite);
    this.#challenges = new Challenges(options.clock);
  }

  /** How many passkeys a user has. */
  count(userId: number): number {
    return this.#queries.count.get(userId)?.count ?? 0;
  }

  /** The passkeys of a user, newest first. */
  list(userId: number): Passkey[] {
    return this.#queries.ofUser.all(userId).map(toPasskey);
  }

  /** Options with which a browser creates a passkey on this site. */
  async registrationOptions(
    { user, session }: SessionPrincipal,
    { rpId }: Site,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await loadLibrary();
    return generateRegistrationOptions({
      rpName: RP_NAME,
      rpID: rpId,
      userName: user.email,
      userDisplayName: user.name,
      userID: Uint8Array.from(Buffer.from(user.publicId)),
      challenge: bytesOf(this.#challenges.issue(`add:${session.publicId}`)),
      timeout: TIMEOUT_MS,
      attestationType: "none",
      supportedAlgorithmIDs: ALGORITHMS,
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      // An authenticator stores one passkey per account.
      excludeCredentials: this.#queries.ofUser.all(user.id).map(({ credentialId, transports }) => ({
        id: base64Url(credentialId),
        transports: readTransports(transports),
      })),
    });
  }

  /**
   * Adds the passkey that an authenticator created; durable when this returns.
   * @param checkSession runs first in the same transaction; what it throws undoes it
   * @throws AppError invalid_field if it does not match the challenge, session and site, or is known already; what
   *   `checkSession` throws
   */
  async add(
    { user, session }: SessionPrincipal,
    site: Site,
    response: RegistrationResponseJSON,
    givenName: string,
    checkSession: TransactionCheck,
  ): Promise<Passkey> {
    const { writer, clock, events } = this.#options;
    const name = checkName(givenName, NAME_CHARACTERS_MAX);
    const { credential, credentialBackedUp } = await this.#verifyRegistration(session, site, response);
    const nowMs = clock.nowMs();
    const credentialId = bytesOf(credential.id);
    return writer.run((tx) => {
      checkSession(tx);
      if (this.#queries.byCredential.get(credentialId) !== null) throw notAdded(say`It is already registered.`);
      if (this.count(user.id) >= PASSKEYS_MAX) {
        throw new AppError("invalid_request", say`You can have at most ${PASSKEYS_MAX} passkeys. Remove one first.`, {
          limit: PASSKEYS_MAX,
        });
      }
      const publicId = newId("psk", nowMs);
      this.#queries.insert.run(
        publicId,
        user.id,
        name,
        site.rpId,
        credentialId,
        credential.publicKey,
        credential.counter,
        JSON.stringify(credential.transports ?? []),
        credentialBackedUp ? 1 : 0,
        nowMs,
      );
      const deviceId = user.viaDeviceId ?? null;
      events.emit(tx, "security.credentials_changed", { accountId: user.id, what: "passkey_added", deviceId });
      return toPasskey(this.#get(user.id, publicId));
    });
  }

  /** Renames a passkey of a user; durable when this returns. @throws AppError not_found | invalid_field */
  async rename(userId: number, publicId: string, givenName: string): Promise<Passkey> {
    const name = checkName(givenName, NAME_CHARACTERS_MAX);
    return this.#options.writer.run(() => {
      this.#get(userId, publicId);
      this.#queries.rename.run(publicId, name);
      return toPasskey(this.#get(userId, publicId));
    });
  }

  /**
   * Removes a passkey of a user; durable when this returns.
   * @param checkProof runs first in the same transaction; what it throws undoes it
   * @throws AppError not_found; what `checkProof` throws
   */
  async remove(user: User, publicId: string, checkProof: TransactionCheck): Promise<void> {
    const { writer, events } = this.#options;
    await writer.run((tx) => {
      checkProof(tx);
      this.#get(user.id, publicId);
      this.#queries.remove.run(publicId);
      const deviceId = user.viaDeviceId ?? null;
      events.emit(tx, "security.credentials_changed", { accountId: user.id, what: "passkey_removed", deviceId });
    });
  }

  /** Options with which a browser requests any passkey of this site. */
  async signInOptions(site: Site): Promise<PublicKeyCredentialRequestOptionsJSON> {
    return this.#requestOptions(site, "sign-in");
  }

  /** Options with which a browser requests one of this user's passkeys of this site, to confirm a session. */
  async confirmOptions(
    { user, session }: SessionPrincipal,
    site: Site,
  ): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const own = this.#queries.ofUser.all(user.id).filter(({ rpId }) => rpId === site.rpId);
    if (own.length === 0) {
      throw new AppError(
        "invalid_request",
        say`You have no passkey for this address. Confirm your identity another way.`,
      );
    }
    const allowCredentials = own.map(({ credentialId, transports }) => ({
      id: base64Url(credentialId),
      transports: readTransports(transports),
    }));
    return this.#requestOptions(site, `confirm:${session.publicId}`, allowCredentials);
  }

  /**
   * Finds the user of this passkey. Every problem gives the same error.
   * @throws AppError bad_credentials; account_disabled only with the right passkey
   */
  async verify(site: Site, response: AuthenticationResponseJSON, purpose: Purpose = "sign-in"): Promise<PasskeyProof> {
    const { users } = this.#options;
    const row = this.#queries.byCredential.get(bytesOf(response.id));
    const user = row === null ? undefined : users.findById(row.userId);
    if (row === null || user === undefined || row.rpId !== site.rpId) throw notAccepted();
    const { userHandle } = response.response;
    if (userHandle !== undefined && Buffer.from(userHandle, "base64url").toString() !== user.publicId) {
      throw notAccepted();
    }
    const { newCounter, credentialBackedUp } = await this.#verifyAssertion(site, response, row, purpose);
    if (user.disabledAtMs !== null) throw accountDisabled();
    return { user, confirm: () => this.#noteUsed(row.publicId, newCounter, credentialBackedUp) };
  }

  /**
   * Checks a passkey that confirms a session.
   * @throws AppError bad_credentials, also for a passkey of another user; account_disabled
   */
  async verifyConfirmation(
    { user, session }: SessionPrincipal,
    site: Site,
    response: AuthenticationResponseJSON,
  ): Promise<PasskeyProof> {
    const shown = await this.verify(site, response, `confirm:${session.publicId}`);
    if (shown.user.id !== user.id) throw notAccepted();
    return shown;
  }

  async #requestOptions(
    { rpId }: Site,
    purpose: Purpose,
    allowCredentials: { id: string; transports: AuthenticatorTransport[] }[] = [],
  ): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await loadLibrary();
    return generateAuthenticationOptions({
      rpID: rpId,
      challenge: bytesOf(this.#challenges.issue(purpose)),
      timeout: TIMEOUT_MS,
      userVerification: "required",
      ...(allowCredentials.length > 0 && { allowCredentials }),
    });
  }

  async #verifyRegistration({ publicId }: Session, site: Site, given: RegistrationResponseJSON) {
    const { verifyRegistrationResponse } = await loadLibrary();
    const response = await withoutAttestation(given).catch((error: unknown) => {
      throw notAdded(say`Start again.`, error);
    });
    const result = await verifyRegistrationResponse({
      response,
      expectedChallenge: (challenge) => this.#challenges.take(challenge, `add:${publicId}`),
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch((error: unknown) => {
      throw notAdded(say`Start again on this server's own page.`, error);
    });
    if (!result.verified) throw notAdded(say`Start again.`);
    return result.registrationInfo;
  }

  async #verifyAssertion(site: Site, response: AuthenticationResponseJSON, row: PasskeyRow, purpose: Purpose) {
    const { verifyAuthenticationResponse } = await loadLibrary();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => this.#challenges.take(challenge, purpose),
      expectedOrigin: site.origin,
      expectedRPID: row.rpId,
      requireUserVerification: true,
      credential: {
        id: base64Url(row.credentialId),
        publicKey: Uint8Array.from(row.publicKey),
        counter: row.counter,
        transports: readTransports(row.transports),
      },
    }).catch((error: unknown) => {
      throw notAccepted(error);
    });
    if (!verified) throw notAccepted();
    return authenticationInfo;
  }

  /**
   * A counter that does not grow indicates a copied passkey (WebAuthn §6.1.1). It is checked again here, since another
   * request may have come first.
   */
  #noteUsed(publicId: string, counter: number, isBackedUp: boolean): void {
    const row = this.#queries.byPublicId.get(publicId);
    if (row === null || ((counter > 0 || row.counter > 0) && counter <= row.counter)) throw notAccepted();
    this.#queries.noteUsed.run(publicId, counter, isBackedUp ? 1 : 0, this.#options.clock.nowMs());
  }

  #get(userId: number, publicId: string): PasskeyRow {
    const row = this.#queries.byPublicId.get(publicId);
    if (row?.userId === userId) return row;
    throw new AppError("not_found", say`This passkey was not found. It may already be removed.`);
  }
}

/**
 * Loads the library when first needed: it includes parsers of certificates, which would slow down the start. The
 * parsers need reflect-metadata, and inside the executable the library would import it too late.
 */
async function loadLibrary() {
  await import("reflect-metadata");
  return import("@simplewebauthn/server");
}

/**
 * Removes the attestation statement about the authenticator's model, which we did not request. The library would check
 * it, and fetch revocation lists from any address in a certificate, including private addresses and files.
 * @throws Error if it is not an attestation object
 */
async function withoutAttestation(given: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoCBOR } = await import("@simplewebauthn/server/helpers");
  const authData = decodeAttestationObject(bytesOf(given.response.attestationObject)).get("authData");
  const none = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<string, never>>([
      ["fmt", "none"],
      ["attStmt", new Map<string, never>()],
      ["authData", authData],
    ]),
  );
  return { ...given, response: { ...given.response, attestationObject: base64Url(none) } };
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "base64url"));
}

function readTransports(json: string): AuthenticatorTransport[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `add` alone
  return JSON.parse(json) as AuthenticatorTransport[];
}

function notAdded(advice: Message, cause?: unknown): AppError {
  return new AppError("invalid_field", say`This passkey can't be added. ${advice}`, { field: "response" }, cause);
}

function notAccepted(cause?: unknown): AppError {
  return new AppError(
    "bad_credentials",
    say`The passkey was not accepted. Try again, or sign in with your email and password.`,
    {},
    cause,
  );
}
