/**
 * The keys of a server, sealed in the replica: another machine needs them to take over, and the bucket must not be able
 * to read them. Each file of `secrets/` is one object, encrypted with AES-256-GCM by a key that only the operator has.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { type S3Client, toBody } from "../../../blobs/s3/client.ts";
import { SECRET_NAMES, type SecretName } from "../../../config/secrets.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { errorCode, messageOf } from "../../../lib/error.ts";
import { syncPath } from "../../../lib/sync-path.ts";
import type { ReplicaBucket } from "./replica-bucket.ts";

/** The key that seals, with the path of its file for messages. */
export interface SealingKey {
  readonly path: string;
  readonly bytes: Uint8Array;
}

type SecretsBucket = Pick<ReplicaBucket, "prefix"> & { readonly client: Pick<S3Client, "put" | "getSmall"> };

const KEY_BYTES = 32;
const CIPHER = "aes-256-gcm";
/** The first byte of a sealed object: the version of its format. Then follow the nonce, the tag, and the secret. */
const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED_AT = 1 + NONCE_BYTES + TAG_BYTES;

/** Makes a key file, durably. @throws StartupError if the file exists or can't be written */
export function makeSealingKey(path: string): void {
  try {
    fs.writeFileSync(path, `${randomBytes(KEY_BYTES).toString("base64")}\n`, { mode: 0o600, flag: "wx", flush: true });
    syncPath(dirname(path));
  } catch (error) {
    if (errorCode(error) === "EEXIST") {
      throw new StartupError(
        `${path} exists. A key is never replaced: without it, no sealed secret can be opened. Choose another path.`,
      );
    }
    throw new StartupError(`Cannot write the key file ${path}: ${messageOf(error)}.`, error);
  }
}

/** Reads the file of the setting `replica.keyFile`. @throws StartupError if it can't be used */
export function readSealingKey(path: string): SealingKey {
  let text: string;
  try {
    text = fs.readFileSync(path, "utf8");
  } catch (error) {
    throw new StartupError(
      `Cannot read the key file ${path} (replica.keyFile): ${messageOf(error)}. If another machine has the key, copy its ` +
        `file here. Otherwise, make a key: larder replica key ${path}`,
      error,
    );
  }
  const mode = fs.statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new StartupError(
      `Other users of this machine can read ${path} (mode ${mode.toString(8)}), which opens the sealed secrets in the replica. Run: chmod 600 ${path}`,
    );
  }
  const bytes = Uint8Array.from(Buffer.from(text.trim(), "base64"));
  if (bytes.byteLength === KEY_BYTES) return { path, bytes };
  throw new StartupError(
    `${path} (replica.keyFile) has no key: it must contain 32 bytes in base64, as made by: larder replica key`,
  );
}

/**
 * Seals the secrets of a directory and sends them to the replica.
 * @param directory `<data>/secrets`
 * @throws StartupError if a secret can't be read; S3Error
 */
export async function sealSecrets(bucket: SecretsBucket, key: SealingKey, directory: string): Promise<void> {
  await Promise.all(
    SECRET_NAMES.map(async (name) => {
      const secret = readSecret(join(directory, `${name}.json`));
      await bucket.client.put(keyOf(bucket, name), toBody(seal(key.bytes, name, secret)));
    }),
  );
}

/**
 * Opens the sealed secrets of the replica, and writes them into a directory, durably and only for this user.
 * @throws StartupError if one is missing, damaged, or sealed by another key; then the directory is unchanged. S3Error
 */
export async function unsealSecrets(bucket: SecretsBucket, key: SealingKey, directory: string): Promise<void> {
  const secrets = await Promise.all(
    SECRET_NAMES.map(async (name) => [name, unseal(key, name, await fetchSealed(bucket, name))] as const),
  );
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [name, secret] of secrets) {
    const path = join(directory, `${name}.json`);
    fs.writeFileSync(`${path}.tmp`, secret, { mode: 0o600, flush: true });
    fs.renameSync(`${path}.tmp`, path);
  }
  syncPath(directory);
}

/**
 * Checks that a key opens the secrets that are in the replica, before they are needed. Secrets that are missing are no
 * error: an owner that starts for the first time has not sent them yet.
 * @throws StartupError if they were sealed with another key; S3Error
 */
export async function requireSameKey(bucket: SecretsBucket, key: SealingKey): Promise<void> {
  for (const name of SECRET_NAMES) {
    const sealed = await bucket.client.getSmall(keyOf(bucket, name));
    if (sealed !== undefined) unseal(key, name, sealed);
  }
}

async function fetchSealed(bucket: SecretsBucket, name: SecretName): Promise<Uint8Array> {
  const sealed = await bucket.client.getSmall(keyOf(bucket, name));
  if (sealed !== undefined) return sealed;
  throw new StartupError(
    `The replica has no sealed secret ${name} (${keyOf(bucket, name)}). The owner sends it at each start: restart the owner.`,
  );
}

function keyOf({ prefix }: SecretsBucket, name: SecretName): string {
  return `${prefix}secrets/${name}.sealed`;
}

function readSecret(path: string): Uint8Array {
  try {
    return fs.readFileSync(path);
  } catch (error) {
    throw new StartupError(`Cannot read the secret ${path}: ${messageOf(error)}.`, error);
  }
}

/** The name is authenticated, so that no sealed secret can be exchanged for another. */
function seal(key: Uint8Array, name: SecretName, secret: Uint8Array): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Uint8Array.from(Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), sealed]));
}

function unseal({ bytes: key, path }: SealingKey, name: SecretName, object: Uint8Array): Uint8Array {
  try {
    if (object[0] !== FORMAT || object.byteLength <= SEALED_AT) throw new Error("It has another format.");
    const nonce = object.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, key, nonce)
      .setAAD(Buffer.from(name))
      .setAuthTag(object.subarray(1 + NONCE_BYTES, SEALED_AT));
    return Buffer.concat([decipher.update(object.subarray(SEALED_AT)), decipher.final()]);
  } catch (error) {
    throw new StartupError(
      `The secret ${name} in the replica can't be opened with the key in ${path}: it was sealed with another key, or is ` +
        "damaged. Set replica.keyFile to a copy of the owner's key file.",
      error,
    );
  }
}
