// A passkey in software. Plays the browser and the authenticator (WebAuthn level 2) with ES256 and no attestation.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { ApiResponse } from "./client.ts";

/** What a passkey response contains. Each default is what a browser on the right page sends. */
export interface Ceremony {
  /** Origin of the page, `http://127.0.0.1:1234`. */
  origin: string;
  /** The host name that the authenticator signs for. Default: that of the origin. */
  rpId?: string;
  /** Signed in place of the server's challenge. */
  challenge?: string;
  /** `webauthn.create` or `webauthn.get`. Default: the right one. */
  type?: string;
  /** False: a user was present, but not verified by PIN or fingerprint. */
  isVerified?: boolean;
  /** The signature counter that the authenticator reports. */
  counter?: number;
  /** Name of an attestation format, sent with a meaningless statement. Default: `none`. */
  attestation?: string;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** One passkey of one account. */
export class Authenticator {
  readonly credentialId = randomBytes(32);
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  #userHandle = "";
  counter = 0;

  /** The JSON of navigator.credentials.create(). @param reply the response to POST /api/users/passkeys/options */
  create(reply: ApiResponse, ceremony: Ceremony): Record<string, unknown> {
    this.#userHandle = reply.string("data.options.user.id");
    const { publicKey } = this.#keys;
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    // A COSE key (RFC 9052 §7): {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}.
    const coseKey = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, "base64url"),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, "base64url"),
    ]);
    const aaguid = Buffer.alloc(16);
    const idLength = Buffer.from([0, this.credentialId.length]);
    const credential = Buffer.concat([aaguid, idLength, this.credentialId, coseKey]);
    const data = this.#authenticatorData(ceremony, credential);
    const { attestation: format = "none" } = ceremony;
    // CBOR (RFC 8949): {"fmt": format, "attStmt": {} or {"x": 1}, "authData": bytes}.
    const attestation = Buffer.concat([
      Buffer.from([0xa3, 0x63]),
      Buffer.from("fmt"),
      Buffer.from([0x60 + format.length]),
      Buffer.from(format),
      Buffer.from([0x67]),
      Buffer.from("attStmt"),
      Buffer.from(format === "none" ? [0xa0] : [0xa1, 0x61, 0x78, 0x01]),
      Buffer.from([0x68]),
      Buffer.from("authData"),
      Buffer.from([0x59, data.length >> 8, data.length & 0xff]),
      data,
    ]);
    return this.#response({
      clientDataJSON: clientData("webauthn.create", reply, ceremony).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** The JSON of navigator.credentials.get(). @param reply the response to POST /api/auth/passkey/options */
  get(reply: ApiResponse, ceremony: Ceremony): Record<string, unknown> {
    this.counter += 1;
    const data = this.#authenticatorData(ceremony);
    const client = clientData("webauthn.get", reply, ceremony);
    const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    return this.#response({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: sign("sha256", signed, this.#keys.privateKey).toString("base64url"),
      userHandle: this.#userHandle,
    });
  }

  #authenticatorData(ceremony: Ceremony, credential?: Buffer): Buffer {
    const { origin, rpId = new URL(origin).hostname, isVerified = true, counter = this.counter } = ceremony;
    const flags = USER_PRESENT | (isVerified ? USER_VERIFIED : 0) | (credential === undefined ? 0 : HAS_CREDENTIAL);
    const tail = Buffer.alloc(5);
    tail.writeUInt8(flags, 0);
    tail.writeUInt32BE(counter, 1);
    const rpIdHash = createHash("sha256").update(rpId).digest();
    return Buffer.concat([rpIdHash, tail, credential ?? Buffer.alloc(0)]);
  }

  #response(response: Record<string, unknown>): Record<string, unknown> {
    const id = this.credentialId.toString("base64url");
    return { id, rawId: id, type: "public-key", response, clientExtensionResults: {} };
  }
}

function clientData(type: string, reply: ApiResponse, ceremony: Ceremony): Buffer {
  const { origin, challenge = reply.string("data.options.challenge") } = ceremony;
  return Buffer.from(JSON.stringify({ type: ceremony.type ?? type, challenge, origin, crossOrigin: false }));
}
