import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { S3Body } from "../../../../src/blobs/s3/client.ts";
import { openSecrets } from "../../../../src/config/secrets.ts";
import {
  makeSealingKey,
  readSealingKey,
  sealSecrets,
  unsealSecrets,
} from "../../../../src/features/storage/replication/sealed-secrets.ts";
import { temporaryDirectory } from "../../../support/server.ts";

let folder: string;
let objects: Map<string, Uint8Array>;

beforeEach(async () => {
  folder = await temporaryDirectory();
  objects = new Map();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bucket = {
  prefix: "home/",
  client: {
    put: async (key: string, { bytes }: S3Body) => (objects.set(key, bytes), ""),
    getSmall: async (key: string) => objects.get(key),
  },
};

function makeKey(name: string) {
  const path = join(folder, name);
  makeSealingKey(path);
  return readSealingKey(path);
}

test("secrets travel sealed, and are the same at the other end", async () => {
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  openSecrets(from);
  const key = makeKey("key");
  await sealSecrets(bucket, key, from);
  expect([...objects.keys()].sort()).toEqual(
    ["factors", "jwt", "link", "vapid"].map((name) => `home/secrets/${name}.sealed`),
  );
  const plain = JSON.parse(readFileSync(join(from, "jwt.json"), "utf8")).key;
  expect(Buffer.from(objects.get("home/secrets/jwt.sealed") ?? []).includes(plain)).toBe(false);
  await unsealSecrets(bucket, key, to);
  for (const name of ["factors", "jwt", "link", "vapid"]) {
    expect(readFileSync(join(to, `${name}.json`))).toEqual(readFileSync(join(from, `${name}.json`)));
    expect(statSync(join(to, `${name}.json`)).mode & 0o777).toBe(0o600);
  }
  expect(statSync(to).mode & 0o777).toBe(0o700);
  openSecrets(to);
});

test("a wrong key, an exchanged secret, a damaged secret and a missing one change nothing", async () => {
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  openSecrets(from);
  const key = makeKey("key");
  await sealSecrets(bucket, key, from);
  const open = (other = key) => unsealSecrets(bucket, other, to);
  await expect(open(makeKey("other"))).rejects.toThrow("was sealed with another key, or is damaged");
  const [jwt = new Uint8Array(), link = new Uint8Array()] = ["jwt", "link"].map((name) =>
    objects.get(`home/secrets/${name}.sealed`),
  );
  objects.set("home/secrets/jwt.sealed", link);
  await expect(open()).rejects.toThrow("The secret jwt in the replica can't be opened");
  objects.set("home/secrets/jwt.sealed", jwt.subarray(0, 40));
  await expect(open()).rejects.toThrow("can't be opened");
  objects.delete("home/secrets/jwt.sealed");
  await expect(open()).rejects.toThrow("The replica has no sealed secret jwt");
  expect(existsSync(to)).toBe(false);
});

test("a key file is never replaced, and must be private and whole", () => {
  const key = makeKey("key");
  expect(statSync(key.path).mode & 0o777).toBe(0o600);
  expect(() => makeSealingKey(key.path)).toThrow("exists");
  chmodSync(key.path, 0o640);
  expect(() => readSealingKey(key.path)).toThrow(`chmod 600 ${key.path}`);
  expect(() => readSealingKey(join(folder, "absent"))).toThrow("larder replica key");
  const short = join(folder, "short");
  writeFileSync(short, "c2hvcnQ=\n", { mode: 0o600 });
  expect(() => readSealingKey(short)).toThrow("32 bytes in base64");
});
