import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSecrets, readAdminPassword, rotateSecret } from "../../../src/config/secrets.ts";
import { StartupError } from "../../../src/config/startup-error.ts";

const root = mkdtempSync(join(tmpdir(), "larder-secrets-"));
const directory = join(root, "secrets");

beforeEach(() => rmSync(directory, { recursive: true, force: true }));
afterAll(() => rmSync(root, { recursive: true }));

function rejection(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof StartupError) return error.message;
    throw error;
  }
  return "not refused";
}

describe("secrets", () => {
  test("are made at the first start, 256 bits each, for this user alone, and stay", () => {
    const first = openSecrets(directory);
    expect(first.made).toEqual(["jwt", "link", "vapid", "factors"]);
    expect([first.jwt.secret.byteLength, first.link.secret.byteLength]).toEqual([32, 32]);
    expect(first.jwt.secret).not.toEqual(first.link.secret);
    const paths = ["", "jwt.json", "link.json", "vapid.json"].map((name) => join(directory, name));
    const modes = paths.map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
    const again = openSecrets(directory);
    expect([again.made, again.jwt, again.link]).toEqual([[], first.jwt, first.link]);
  });

  test("leave nothing else behind", () => {
    openSecrets(directory);
    expect(readdirSync(directory).toSorted()).toEqual(["factors.json", "jwt.json", "link.json", "vapid.json"]);
  });

  test("that others may read are rejected with the command that helps", () => {
    openSecrets(directory);
    chmodSync(join(directory, "jwt.json"), 0o640);
    expect(rejection(() => openSecrets(directory))).toContain(`chmod 600 ${directory}/jwt.json`);
    chmodSync(join(directory, "jwt.json"), 0o600);
    chmodSync(directory, 0o755);
    expect(rejection(() => openSecrets(directory))).toContain(`chmod 700 ${directory}`);
  });

  test.each([
    ["empty", ""],
    ["torn", '{"kid":"a","key":"AAA'],
    ["too short", JSON.stringify({ kid: "a", key: Buffer.alloc(16, 7).toString("base64url") })],
    ["all alike", JSON.stringify({ kid: "a", key: Buffer.alloc(32, 7).toString("base64url") })],
    [
      "thought up",
      JSON.stringify({ kid: "a", key: Buffer.from("secretsecretsecretsecretsecretse").toString("base64url") }),
    ],
    [
      "without a name",
      JSON.stringify({ key: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url") }),
    ],
  ])("that are %s are refused, and kept as they are", (_, content) => {
    openSecrets(directory);
    const path = join(directory, "jwt.json");
    writeFileSync(path, content);
    expect(rejection(() => openSecrets(directory))).toContain("damaged or weak");
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  test("can be replaced one by one, each under a new name", () => {
    const before = openSecrets(directory);
    const jwt = rotateSecret(directory, "jwt");
    const after = openSecrets(directory);
    expect(jwt.kid).not.toBe(before.jwt.kid);
    expect([after.jwt, after.link]).toEqual([jwt, before.link]);
  });

  test("are the same for programs that start at once", async () => {
    const script = `import { openSecrets } from ${JSON.stringify(join(import.meta.dir, "../../../src/config/secrets.ts"))};
      console.log(openSecrets(${JSON.stringify(directory)}).jwt.kid);`;
    const starts = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" }));
    const kids = await Promise.all(starts.map((start) => new Response(start.stdout).text()));
    expect(new Set(kids).size).toBe(1);
    expect(kids[0]).toContain(openSecrets(directory).jwt.kid);
  });
});

test("the administrator's password comes from the setting or its file, without the line end", () => {
  const path = join(root, "password");
  writeFileSync(path, "correct horse\n");
  expect(readAdminPassword({ adminPassword: null, adminPasswordFile: path })).toBe("correct horse");
  expect(readAdminPassword({ adminPassword: "other", adminPasswordFile: null })).toBe("other");
  expect(readAdminPassword({ adminPassword: null, adminPasswordFile: null })).toBeUndefined();
  expect(rejection(() => readAdminPassword({ adminPassword: null, adminPasswordFile: "/none" }))).toContain("/none");
});
