import { afterAll, describe, expect, test } from "bun:test";
import { createECDH, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../../../src/config/load.ts";
import { StartupError } from "../../../../../src/config/startup-error.ts";
import { AppError } from "../../../../../src/errors.ts";
import { openPushChannels } from "../../../../../src/features/messaging/notifications/channels/channels.ts";
import { CidrList } from "../../../../../src/lib/cidr.ts";
import { systemClock } from "../../../../../src/lib/clock.ts";
import { Outbound } from "../../../../../src/net/outbound.ts";

const root = mkdtempSync(join(tmpdir(), "larder-channels-"));
afterAll(() => rmSync(root, { recursive: true }));

const vapid = { kid: "k", secret: new Uint8Array(randomBytes(32).fill(1, 0, 1)) };
const outbound = new Outbound({ allow: CidrList.parse([]), resolve: async () => ["93.184.216.34"] });
const browser = createECDH("prime256v1");
browser.generateKeys();
const p256dh = browser.getPublicKey("base64url");
const auth = randomBytes(16).toString("base64url");

const ecPem = pem("ec");
const APNS_IDS = {
  LARDER_PUSH_APNS_KEY_ID: "KEYKEYKEY1",
  LARDER_PUSH_APNS_TEAM_ID: "TEAMTEAM01",
  LARDER_PUSH_APNS_TOPIC: "org.example.larder",
};

function open(environment: Record<string, string> = {}) {
  const { config } = loadConfig({ environment: { LARDER_DATA: root, ...environment } });
  return openPushChannels({ config, vapid, outbound, clock: systemClock });
}

function pem(kind: "ec" | "rsa" | "p384"): string {
  const { privateKey } =
    kind === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: kind === "ec" ? "P-256" : "P-384" });
  return privateKey.export({ type: "pkcs8", format: "pem" });
}

function file(name: string, content: string): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

function account(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    project_id: "p",
    client_email: "a@p.example",
    private_key: pem("rsa"),
    token_uri: "https://oauth2.googleapis.com/token",
    ...changes,
  });
}

function subscription(changes: Record<string, unknown> = {}, keys: Record<string, unknown> = {}): string {
  return JSON.stringify({ endpoint: "https://push.example.org/x", keys: { p256dh, auth, ...keys }, ...changes });
}

describe("the channel of a token", () => {
  test("without any configuration exists only for browsers and URLs", async () => {
    const channels = await open();
    expect(channels.providers).toEqual(["web-push", "url"]);
    expect(Buffer.from(channels.vapidPublicKey, "base64url").byteLength).toBe(65);
    for (const platform of ["android", "ios", "web", "windows", ""]) {
      expect(channels.pick({ token: subscription(), platform })?.name).toBe("web-push");
      expect(channels.pick({ token: "https://ntfy.example.org/topic", platform })?.name).toBe("url");
      expect(channels.pick({ token: "abc:APA91b", platform })).toBeUndefined();
    }
  });

  test("depends on the platform, if its push service is configured", async () => {
    const channels = await open({
      LARDER_PUSH_FCM_SERVICE_ACCOUNT_FILE: file("account.json", account()),
      LARDER_PUSH_APNS_KEY_FILE: file("key.p8", ecPem),
      ...APNS_IDS,
    });
    expect(channels.providers).toEqual(["fcm", "apns", "web-push", "url"]);
    expect(channels.pick({ token: "abc:APA91b", platform: "Android" })?.name).toBe("fcm");
    expect(channels.pick({ token: "beef", platform: "iOS" })?.name).toBe("apns");
    expect(channels.pick({ token: "beef", platform: "web" })).toBeUndefined();
    expect(channels.pick({ token: subscription(), platform: "ios" })?.name).toBe("web-push");
    await channels.close();
  });
});

describe("a token is", () => {
  test.each([
    ["of FCM", "cXk1:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx"],
    ["of APNs", "a9d0ed10e9cfd022a61cb08753f49c5a0b0dfb383697bf9f9d750a1003da19c7"],
    ["a subscription", subscription()],
    ["a subscription with more in it", subscription({ expirationTime: null, contentEncoding: "aes128gcm" })],
    ["a subscription in base64", subscription({}, { p256dh: browser.getPublicKey("base64") })],
    ["a topic of ntfy", "https://ntfy.example.org/mytopic"],
  ])("accepted: %s", async (_, token) => {
    expect(await (await open()).checkToken(token, "pushToken")).toBeUndefined();
  });

  test.each([
    ["empty", "", "invalid_field"],
    ["blank", "  \n ", "invalid_field"],
    ["too long", "x".repeat(4097), "invalid_field"],
    ["with a control character", "abc\u0000def", "invalid_field"],
    ["broken JSON", '{"endpoint":', "invalid_field"],
    ["a subscription without keys", subscription({ keys: undefined }), "invalid_field"],
    ["a subscription without auth", subscription({}, { auth: undefined }), "invalid_field"],
    ["a subscription with a short auth", subscription({}, { auth: "AAAA" }), "invalid_field"],
    ["a subscription with a number for a key", subscription({}, { p256dh: 7 }), "invalid_field"],
    [
      "a subscription with a point that is not on the curve",
      subscription({}, { p256dh: Buffer.concat([Buffer.of(4), Buffer.alloc(64, 7)]).toString("base64url") }),
      "invalid_field",
    ],
    ["a subscription without endpoint", subscription({ endpoint: undefined }), "invalid_field"],
    ["a subscription to plain http", subscription({ endpoint: "http://push.example.org/x" }), "forbidden_target"],
    ["a subscription to this machine", subscription({ endpoint: "https://127.0.0.1/x" }), "forbidden_target"],
    ["a subscription to a file", subscription({ endpoint: "file:///etc/passwd" }), "forbidden_target"],
    ["a URL of plain http", "http://ntfy.example.org/topic", "forbidden_target"],
    ["a URL in the local network", "https://192.168.1.2/topic", "forbidden_target"],
    ["a URL with a password", "https://me:secret@ntfy.example.org/topic", "forbidden_target"],
    ["a URL of another scheme", "gopher://127.0.0.1/", "forbidden_target"],
    ["a URL in the local network without slashes", "https:10.0.0.1/x", "forbidden_target"],
    ["a URL in the local network with a line break", "ht\ntps://10.0.0.1/x", "forbidden_target"],
    ["a URL of another scheme with a tab", "go\tpher://127.0.0.1/", "forbidden_target"],
  ])("rejected: %s", async (_, token, reason) => {
    const channels = await open();
    const error = await channels.checkToken(token, "pushToken").then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ reason, details: { field: "pushToken" } });
    expect(String(error)).not.toContain("secret");
  });
});

describe("an invalid configuration prevents the start:", () => {
  test.each([
    [
      "a missing service account file",
      { LARDER_PUSH_FCM_SERVICE_ACCOUNT_FILE: "/none.json" },
      "push.fcm.serviceAccountFile",
    ],
    [
      "a service account file that is not JSON",
      { LARDER_PUSH_FCM_SERVICE_ACCOUNT_FILE: file("no.json", "hello") },
      "not valid JSON",
    ],
    [
      "no project",
      { LARDER_PUSH_FCM_SERVICE_ACCOUNT_FILE: file("no-project.json", account({ project_id: "" })) },
      '"project_id" is missing',
    ],
    [
      "a service account without a private key",
      { LARDER_PUSH_FCM_SERVICE_ACCOUNT_FILE: file("no-key.json", account({ private_key: "secret" })) },
      "not an RSA key",
    ],
    [
      "a service account with an EC key",
      { LARDER_PUSH_FCM_SERVICE_ACCOUNT_FILE: file("ec.json", account({ private_key: ecPem })) },
      "not an RSA key",
    ],
    [
      "a missing APNs key file",
      { LARDER_PUSH_APNS_KEY_FILE: "/none.p8", ...APNS_IDS },
      "Cannot read /none.p8 (push.apns.keyFile)",
    ],
    ["a directory instead of a key file", { LARDER_PUSH_APNS_KEY_FILE: root, ...APNS_IDS }, "push.apns.keyFile"],
    [
      "an RSA key for APNs",
      { LARDER_PUSH_APNS_KEY_FILE: file("rsa.p8", pem("rsa")), ...APNS_IDS },
      "does not contain an APNs key",
    ],
    [
      "an APNs key on the wrong curve",
      { LARDER_PUSH_APNS_KEY_FILE: file("p384.p8", pem("p384")), ...APNS_IDS },
      "does not contain an APNs key",
    ],
    [
      "incomplete APNs settings",
      { LARDER_PUSH_APNS_KEY_ID: "KEYKEYKEY1" },
      "push.apns.keyFile and push.apns.teamId and",
    ],
    ["a short id", { LARDER_PUSH_APNS_KEY_ID: "short" }, "LARDER_PUSH_APNS_KEY_ID"],
    ["an invalid VAPID subject", { LARDER_PUSH_VAPID_SUBJECT: "me" }, "LARDER_PUSH_VAPID_SUBJECT"],
  ])("%s", async (_, environment, message) => {
    const error = await Promise.resolve()
      .then(() => open(environment))
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(StartupError);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("PRIVATE KEY");
  });
});
