/**
 * The secrets of this server: 256 random bits each, created at the first start in `secrets/`, which only the server's
 * user can read. They have no default and are never printed.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { syncPath } from "../lib/sync-path.ts";
import type { Config } from "./settings.ts";
import { StartupError } from "./startup-error.ts";
import { errorCode, messageOf } from "../lib/error.ts";

/** A key, with an ID that differs from that of the keys before it. */
export interface SecretKey {
  /** Public: every token has it in its header. */
  readonly kid: string;
  /** 32 random bytes. */
  readonly secret: Uint8Array;
}

/** All secrets. */
export interface Secrets {
  /** Signs access tokens. */
  readonly jwt: SecretKey;
  /** Derives the tokens of public links. */
  readonly link: SecretKey;
  /** The private key on the curve P-256 that identifies this server to the push services of browsers (RFC 8292). */
  readonly vapid: SecretKey;
  /**
   * Encrypts the secrets of authenticator apps in the database. Replacing it would invalidate all authenticator apps.
   */
  readonly factors: SecretKey;
  /** The secrets that were missing and have just been created. */
  readonly made: readonly SecretName[];
}

/** Names of the secrets; each is the file `NAME.json`. */
export const SECRET_NAMES = ["jwt", "link", "vapid", "factors"] as const;

/** One of {@link SECRET_NAMES}. */
export type SecretName = (typeof SECRET_NAMES)[number];

/** The consequences of replacing a secret, for messages. */
export const SECRET_LOSSES: Readonly<Record<SecretName, string>> = {
  jwt: "all sessions end; everyone must sign in again",
  link: "public links and drop boxes get new addresses, the old ones stop working, and webhooks get new signing secrets",
  vapid: "browsers must subscribe to push notifications again",
  factors:
    "authenticator apps stop working; recovery codes and passkeys still work " +
    "(to turn two-factor authentication off: larder user set EMAIL --no-two-factor)",
};

const KEY_BYTES = 32;

/**
 * Reads the secrets in `directory` (`<data>/secrets`) and creates those that are missing. New secrets are on disk when
 * this returns. Two programs that start at the same time get the same keys.
 * @throws StartupError if other users can read a secret, if one is damaged or weak, or if they can't be written
 */
export function openSecrets(directory: string): Secrets {
  if (!existsSync(directory)) makeDirectory(directory);
  rejectLoosePermissions(directory, "700");
  const made: SecretName[] = [];
  const open = (name: SecretName) => {
    const path = join(directory, `${name}.json`);
    if (!existsSync(path) && writeKey(path, "keep")) made.push(name);
    return readKey(path);
  };
  return { jwt: open("jwt"), link: open("link"), vapid: open("vapid"), factors: open("factors"), made };
}

/**
 * Checks the existing secrets and creates none.
 * @throws StartupError as {@link openSecrets}
 */
export function checkSecrets(directory: string): void {
  if (!existsSync(directory)) return;
  rejectLoosePermissions(directory, "700");
  for (const name of SECRET_NAMES) {
    const path = join(directory, `${name}.json`);
    if (existsSync(path)) readKey(path);
  }
}

/**
 * Finds the secrets that are missing in a directory, such as a copy of `secrets/`. Does not check its permissions.
 * @throws StartupError if an existing secret is damaged or weak, or can't be read
 */
export function findMissingSecrets(directory: string): SecretName[] {
  return SECRET_NAMES.filter((name) => {
    const path = join(directory, `${name}.json`);
    if (!existsSync(path)) return true;
    readKey(path, false);
    return false;
  });
}

/**
 * Replaces a secret with a new one, which is on disk when this returns. A running server keeps using the old one.
 * @throws StartupError if it can't be written
 */
export function rotateSecret(directory: string, name: SecretName): SecretKey {
  if (!existsSync(directory)) makeDirectory(directory);
  rejectLoosePermissions(directory, "700");
  const path = join(directory, `${name}.json`);
  writeKey(path, "replace");
  return readKey(path);
}

/**
 * The password for the first administrator, from the setting or its file.
 * @returns undefined if neither is set
 * @throws StartupError if the file can't be read
 */
export function readAdminPassword(config: Pick<Config, "adminPassword" | "adminPasswordFile">): string | undefined {
  if (config.adminPassword !== null) return config.adminPassword;
  if (config.adminPasswordFile === null) return undefined;
  return readPasswordFile(config.adminPasswordFile);
}

/** Reads a password from a file, without a final line break. @throws StartupError if the file can't be read */
export function readPasswordFile(path: string): string {
  try {
    return withoutLineBreak(readFileSync(path, "utf8"));
  } catch (error) {
    throw new StartupError(`Cannot read the password file ${path}: ${messageOf(error)}.`, error);
  }
}

/** The text without one line break at its end, as added by editors and `echo`. */
export function withoutLineBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
    syncPath(dirname(directory));
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    throw new StartupError(`Cannot create the directory ${directory}: ${messageOf(error)}.`, error);
  }
}

function rejectLoosePermissions(path: string, allowedMode: "600" | "700"): void {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  throw new StartupError(
    `Other users of this machine can read ${path} (mode ${mode.toString(8)}) and use it to sign in as any user. Run: chmod ${allowedMode} ${path}\n` +
      "If someone may have read it already, also run: larder config rotate-secrets",
  );
}

function readKey(path: string, mustBePrivate = true): SecretKey {
  if (mustBePrivate) rejectLoosePermissions(path, "600");
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    throw new StartupError(`Cannot read the secret ${path}: ${messageOf(error)}.`, error);
  }
  const key = parseKey(content);
  if (key !== undefined) return key;
  throw new StartupError(
    `The secret ${path} is damaged or weak: it must contain 256 random bits, as created by Larder. ` +
      "Restore it from a backup, or delete it; the next start creates a new one " +
      "(everyone must sign in again, and links made with it stop working).",
  );
}

function parseKey(content: string): SecretKey | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof parsed !== "object" || parsed === null || !("kid" in parsed) || !("key" in parsed)) return undefined;
  if (typeof parsed.kid !== "string" || parsed.kid === "" || typeof parsed.key !== "string") return undefined;
  const secret = Uint8Array.from(Buffer.from(parsed.key, "base64url"));
  // Of 32 random bytes, at least 16 differ. A key that a person made up often has fewer.
  const isStrong = secret.byteLength === KEY_BYTES && new Set(secret).size >= KEY_BYTES / 2;
  return isStrong ? { kid: parsed.kid, secret } : undefined;
}

/**
 * Writes a new key durably, or nothing.
 * @returns false if another program has created the key since (mode "keep")
 */
function writeKey(path: string, mode: "keep" | "replace"): boolean {
  const content = `${JSON.stringify({
    kid: randomBytes(6).toString("hex"),
    key: newKey().toString("base64url"),
  })}\n`;
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeDurably(temporary, content);
    const isWritten = mode === "replace" ? (renameSync(temporary, path), true) : linkOnce(temporary, path);
    syncPath(dirname(path));
    return isWritten;
  } catch (error) {
    throw new StartupError(`Cannot write the secret ${path}: ${messageOf(error)}.`, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Random bytes that are also a valid private key on P-256: below the order of its group, which begins with 32 ones. */
function newKey(): Buffer {
  for (;;) {
    const key = randomBytes(KEY_BYTES);
    if (key.readUInt32BE(0) !== 0xffff_ffff) return key;
  }
}

function writeDurably(path: string, content: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Gives the file its name unless the name is taken. Of two programs at the same time, one succeeds and both read its
 * key.
 */
function linkOnce(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    if (errorCode(error) !== "EPERM" && errorCode(error) !== "ENOTSUP" && errorCode(error) !== "ENOSYS") throw error;
    // The file system has no hard links, such as exFAT.
    renameSync(temporary, path);
    return true;
  }
}
