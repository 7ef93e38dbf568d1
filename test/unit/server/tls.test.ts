import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPIRY_WARNING_MS, expiryWarning, readTlsPair, fileFingerprint } from "../../../src/server/net/tls.ts";

const fixtures = join(import.meta.dir, "../../fixtures/tls");
const directory = mkdtempSync(join(tmpdir(), "larder-test-tls-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** A copy of a certificate and key of the fixtures. */
function copyPair(name: string) {
  const files = { certFile: join(directory, `${name}certificate.pem`), keyFile: join(directory, `${name}key.pem`) };
  copyFileSync(join(fixtures, `${name}certificate.pem`), files.certFile);
  copyFileSync(join(fixtures, `${name}key.pem`), files.keyFile);
  chmodSync(files.keyFile, 0o600);
  return files;
}

describe("a pair", () => {
  test("is read with its names and its expiry", () => {
    const pair = readTlsPair(copyPair("ended-"));
    expect(pair).toMatchObject({ expiresAtMs: Date.UTC(2020, 1, 1), warnings: [] });
    expect(pair.names).toContain("DNS:localhost");
  });

  test("expires when the first certificate of its chain expires", () => {
    const files = copyPair("renewed-");
    const both = [readTlsPair(files).cert, readTlsPair(copyPair("ended-")).cert].join("\n");
    writeFileSync(files.certFile, both);
    expect(readTlsPair(files).expiresAtMs).toBe(Date.UTC(2020, 1, 1));
  });

  test("causes a warning if everybody can read its key", () => {
    const files = copyPair("renewed-");
    chmodSync(files.keyFile, 0o644);
    expect(readTlsPair(files).warnings).toEqual([expect.stringContaining(`chmod 640 ${files.keyFile}`)]);
    chmodSync(files.keyFile, 0o640);
    expect(readTlsPair(files).warnings).toEqual([]);
  });

  test.each([
    ["a certificate that is none", "certFile", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
    ["an empty certificate", "certFile", ""],
    ["a key that is none", "keyFile", "key"],
  ] as const)("with %s is refused by the file's name", (_, file, text) => {
    const files = copyPair("renewed-");
    writeFileSync(files[file], text);
    expect(() => readTlsPair(files)).toThrow(files[file]);
  });
});

test("the fingerprint changes with the target of a link, and is undefined while files are missing", () => {
  const files = copyPair("");
  const link = { certFile: join(directory, "link.pem"), keyFile: files.keyFile };
  symlinkSync(files.certFile, link.certFile);
  const before = fileFingerprint(link);
  expect(fileFingerprint(link)).toBe(before);
  unlinkSync(link.certFile);
  expect(fileFingerprint(link)).toBeUndefined();
  symlinkSync(copyPair("renewed-").certFile, link.certFile);
  expect(fileFingerprint(link)).not.toBe(before);
});

test("an expiring certificate is logged two weeks before its end, and after it", () => {
  const pair = readTlsPair(copyPair("ended-"));
  const end = pair.expiresAtMs;
  expect(expiryWarning(pair, end - EXPIRY_WARNING_MS - 1)).toBeUndefined();
  expect(expiryWarning(pair, end - EXPIRY_WARNING_MS)).toContain("expires on 2020-02-01");
  expect(expiryWarning(pair, end)).toContain("expired on 2020-02-01");
});
