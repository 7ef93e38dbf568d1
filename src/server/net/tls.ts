/** The certificate of the server and its key, in two PEM files that another program renews. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, type Stats, statSync } from "node:fs";
import { StartupError } from "../../config/startup-error.ts";
import { messageOf } from "../../lib/error.ts";

/** How long before its expiry a certificate is logged. Programs that renew certificates do so two weeks earlier. */
export const EXPIRY_WARNING_MS = 14 * 24 * 3_600_000;

/** The two files. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate with its key. */
export interface TlsPair {
  /** PEM, with the chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** The earliest expiry in the chain. */
  readonly expiresAtMs: number;
  /** The names in the certificate, as text. */
  readonly names: string;
  /** Problems that do not stop the start. */
  readonly warnings: readonly string[];
}

/**
 * Reads both files and checks that they match.
 * @throws StartupError that names the file at fault and says what to do
 */
export function readTlsPair({ certFile, keyFile }: TlsFiles): TlsPair {
  const cert = readPem(certFile, "tls.certFile");
  const key = readPem(keyFile, "tls.keyFile");
  const [leaf, ...chain] = readChain(cert, certFile);
  if (leaf === undefined)
    throw new StartupError(`${certFile} (tls.certFile) does not contain a certificate in PEM format.`);
  if (!fits(leaf, key, keyFile)) {
    throw new StartupError(
      `The key in ${keyFile} (tls.keyFile) does not match the first certificate in ${certFile} (tls.certFile). ` +
        "The file must contain the certificate of the server first, then its chain.",
    );
  }
  const ends = [leaf, ...chain].map((certificate) => Date.parse(certificate.validTo));
  const isReadable = (statSync(keyFile).mode & 0o007) !== 0;
  return {
    cert,
    key,
    expiresAtMs: Math.min(...ends),
    names: leaf.subjectAltName ?? leaf.subject,
    warnings: isReadable
      ? [`All users of this machine can read the TLS key ${keyFile}. Run: chmod 640 ${keyFile}`]
      : [],
  };
}

/**
 * A text that changes when either file is written or replaced, also through a symbolic link. Undefined while one of them
 * is missing.
 * @throws StartupError that names the file that can't be read
 */
export function fileFingerprint({ certFile, keyFile }: TlsFiles): string | undefined {
  const stats = [readStats(certFile, "tls.certFile"), readStats(keyFile, "tls.keyFile")];
  if (stats.some((stat) => stat === undefined)) return undefined;
  return stats.map((stat) => `${stat?.ino}:${stat?.mtimeMs}:${stat?.size}`).join(" ");
}

/** A warning if a certificate expires soon or has expired; undefined otherwise. */
export function expiryWarning({ expiresAtMs }: TlsPair, nowMs: number): string | undefined {
  const leftMs = expiresAtMs - nowMs;
  if (leftMs > EXPIRY_WARNING_MS) return undefined;
  const day = new Date(expiresAtMs).toISOString().slice(0, 10);
  if (leftMs <= 0)
    return `The certificate expired on ${day}; clients reject it. Renew it; Larder reloads it automatically.`;
  return `The certificate expires on ${day}. Renew it; Larder reloads it automatically.`;
}

function readPem(path: string, setting: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable(path, setting, error);
  }
}

function readStats(path: string, setting: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw unreadable(path, setting, error);
  }
}

function unreadable(path: string, setting: string, error: unknown): StartupError {
  return new StartupError(`Cannot read ${path} (${setting}): ${messageOf(error)}.`, error);
}

function readChain(pem: string, path: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw new StartupError(
      `${path} (tls.certFile) contains a certificate that is not valid: ${messageOf(error)}.`,
      error,
    );
  }
}

function fits(leaf: X509Certificate, key: string, path: string): boolean {
  try {
    return leaf.checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    const hint = key.includes("ENCRYPTED")
      ? "It is protected by a password. To remove the password, use openssl pkey."
      : "";
    throw new StartupError(`${path} (tls.keyFile) does not contain a usable key. ${hint}`.trim(), error);
  }
}
