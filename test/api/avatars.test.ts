import { beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";
import { type Account, toBytes } from "../support/client.ts";
import { shareWith } from "../support/account-shares.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { expel, makeGroup, shareWithGroup } from "../support/groups.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const findable = sharedServer({ hasAccounts: true, env: { LARDER_SHOW_PEOPLE: "on" } });

let admin: Account;
let person: Account;

beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
  person = await withPicture(await server().signUp({ name: "Pia Person" }));
});

/** An image of three stripes: red, green, blue. The green one is the middle square. */
async function image(width = 300, height = 100): Promise<Buffer> {
  const stripe = (background: string) => ({ create: { width: width / 3, height, channels: 3 as const, background } });
  return sharp({ create: { width, height, channels: 3, background: "#ff0000" } })
    .composite([
      { input: stripe("#00ff00"), left: width / 3, top: 0 },
      { input: stripe("#0000ff"), left: (width / 3) * 2, top: 0 },
    ])
    .withExif({ IFD0: { Make: "Camera" }, IFD3: { GPSLatitudeRef: "N" } })
    .jpeg({ quality: 95 })
    .toBuffer();
}

const put = (account: Account, body: Uint8Array, type = "image/jpeg") =>
  account.client.request("PUT", "/api/users/avatar", {
    body: Uint8Array.from(body),
    headers: { "content-type": type },
  });

async function withPicture(account: Account): Promise<Account> {
  expectStatus(await put(account, await image()), 200);
  return account;
}

const pictureOf = ({ id }: Account, query = "") => `/api/users/${id}/avatar${query}`;

/** Whether an account sees the picture of a person: by its address, and in the list. */
async function sees({ client }: Account, of: Account): Promise<boolean> {
  const { status } = await client.get(pictureOf(of));
  const isListed = (await client.get("/api/users/avatars")).strings("data.people", "id").includes(of.id);
  expect({ status, isListed }).toEqual(status === 200 ? { status, isListed: true } : { status: 404, isListed: false });
  return isListed;
}

describe("the own picture", () => {
  test("is the middle square in two sizes, without metadata, and can be replaced and removed", async () => {
    const owner = await server().signUp();
    const { client } = owner;
    expect((await client.get("/api/users/profile")).at("data.avatar")).toBeNull();
    expectError(await client.get(pictureOf(owner)), 404, "not_found");
    const set = await put(owner, await image());
    expectStatus(set, 200);
    const version = set.string("data.avatar.version");
    expect((await client.get("/api/users/profile")).at("data.avatar")).toEqual({ version });
    for (const size of [64, 256]) {
      const picture = await client.get(pictureOf(owner, `?size=${size}`));
      expectStatus(picture, 200);
      const { format, width, height, exif } = await sharp(picture.bytes).metadata();
      expect([format, width, height, exif]).toEqual(["webp", size, size, undefined]);
      const { dominant } = await sharp(picture.bytes).stats();
      expect(dominant.g > 200 && dominant.r < 60 && dominant.b < 60).toBe(true);
    }
    const replaced = await put(
      owner,
      await sharp(await image())
        .rotate(90)
        .png()
        .toBuffer(),
      "image/png",
    );
    expect(replaced.string("data.avatar.version")).not.toBe(version);
    expectStatus(await client.delete("/api/users/avatar"), 200);
    expectStatus(await client.delete("/api/users/avatar"), 200);
    expectError(await client.get(pictureOf(owner)), 404, "not_found");
    expect((await client.get("/api/users/profile")).at("data.avatar")).toBeNull();
  });

  test("is turned as the camera says", async () => {
    const owner = await server().signUp();
    const half = { create: { width: 50, height: 100, channels: 3 as const, background: "#0000ff" } };
    const turned = sharp({ create: { width: 100, height: 100, channels: 3, background: "#ff0000" } })
      .composite([{ input: half, left: 0, top: 0 }])
      .withMetadata({ orientation: 6 });
    expectStatus(await put(owner, await turned.jpeg().toBuffer()), 200);
    const { bytes } = await owner.client.get(pictureOf(owner));
    const top = await sharp(bytes).extract({ left: 0, top: 0, width: 256, height: 100 }).stats();
    expect(top.dominant.b).toBeGreaterThan(200);
  });

  test("is sent so that it can't run anything, and is cached by its version", async () => {
    const version = (await person.client.get("/api/users/profile")).string("data.avatar.version");
    const plain = await person.client.get(pictureOf(person));
    expect(plain.header("content-type")).toBe("image/webp");
    expect(plain.header("x-content-type-options")).toBe("nosniff");
    expect(plain.header("content-security-policy")).toContain("sandbox");
    expect(plain.header("cache-control")).toBe("private, no-cache");
    const etag = plain.header("etag");
    expectStatus(await person.client.get(pictureOf(person), { "if-none-match": etag }), 304);
    const versioned = await person.client.get(pictureOf(person, `?size=64&v=${version}`));
    expect(versioned.header("cache-control")).toBe("private, max-age=31536000, immutable");
    expect(versioned.header("etag")).not.toBe(etag);
    const other = await person.client.get(pictureOf(person, "?v=0000000000000000"));
    expect(other.header("cache-control")).toBe("private, no-cache");
    expectError(await person.client.get(pictureOf(person, "?size=9")), 400, "invalid_field", "size");
  });

  test("an erased account has none", async () => {
    const gone = await withPicture(await server().signUp());
    expectStatus(await gone.client.delete("/api/users/profile", { password: gone.password }), 200);
    expect(await sees(admin, gone)).toBe(false);
  });
});

describe("an image that can't be a picture", () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
  const cases: [string, () => Promise<Uint8Array> | Uint8Array][] = [
    ["nothing", () => new Uint8Array()],
    ["a drawing", () => toBytes(svg)],
    ["a page", () => toBytes("<!doctype html><script>alert(1)</script>")],
    ["a page that begins like a GIF", () => toBytes("GIF89a/*<script>alert(1)</script>*/")],
    ["a truncated JPEG", async () => (await image(1500, 500)).subarray(0, 3000)],
    [
      "a TIFF",
      async () =>
        sharp(await image())
          .tiff()
          .toBuffer(),
    ],
    [
      "100 megapixels",
      () =>
        sharp({ create: { width: 10_000, height: 10_000, channels: 3, background: "#fff" } })
          .png()
          .toBuffer(),
    ],
  ];

  test.each(cases)("%s: 415, and the picture before stays", async (_, make) => {
    const before = (await person.client.get(pictureOf(person))).header("etag");
    expectError(await put(person, await make()), 415, "unsupported_media_type");
    expect((await person.client.get(pictureOf(person))).header("etag")).toBe(before);
  });

  test("more than 5 MB: 413", async () => {
    expectError(await put(person, new Uint8Array(5 * 1024 * 1024 + 1)), 413, "file_too_large");
  });

  test("what follows or hides in an image is not stored", async () => {
    const owner = await server().signUp();
    expectStatus(await put(owner, Buffer.concat([await image(), Buffer.from(svg)])), 200);
    for (const size of [64, 256]) {
      const { bytes } = await owner.client.get(pictureOf(owner, `?size=${size}`));
      expect(Buffer.from(bytes).includes("script")).toBe(false);
      expect(Buffer.from(bytes).includes("Camera")).toBe(false);
    }
  });
});

describe("the picture of somebody else", () => {
  test("is hidden from strangers and visitors as if there were none, and shown to administrators", async () => {
    const stranger = await server().signUp();
    const without = await server().signUp();
    expect(await sees(stranger, person)).toBe(false);
    const [hidden, missing, unknown] = await Promise.all(
      [pictureOf(person), pictureOf(without), "/api/users/usr_00000000000000000000/avatar"].map((path) =>
        stranger.client.get(path),
      ),
    );
    const errorOf = (response: typeof hidden) => response?.at("error.message");
    expect(errorOf(hidden)).toBe(errorOf(unknown));
    expect(errorOf(missing)).toBe(errorOf(unknown));
    expectError(await server().visitor.get(pictureOf(person)), 401, "missing_token");
    expect(await sees(admin, person)).toBe(true);
  });

  test("is visible to the recipient of a share, and not afterwards", async () => {
    const friend = await server().signUp();
    const file = await person.client.storedId("shared");
    const share = await shareWith(person.client, file, friend);
    expect(await sees(friend, person)).toBe(true);
    // What is in the trash is not shared.
    expectStatus(await person.client.post("/api/files/trash", { fileIds: [file] }), 200);
    expect(await sees(friend, person)).toBe(false);
    expectStatus(await person.client.post("/api/files/trash/restore", { fileIds: [file] }), 200);
    expect(await sees(friend, person)).toBe(true);
    expectStatus(await person.client.delete(`/api/shares/${share}`), 200);
    expect(await sees(friend, person)).toBe(false);
  });

  test("does not show who shares by email whether the address has an account", async () => {
    const curious = await server().signUp();
    await shareWith(curious.client, await curious.client.storedId("bait"), person);
    expect(await sees(curious, person)).toBe(false);
    expect((await curious.client.get("/api/users/avatars")).at("data.people")).toEqual([]);
  });

  test("is visible through a group, only between the owner of a share and its members", async () => {
    const [owner, member, other] = [await server().signUp(), await server().signUp(), await server().signUp()];
    for (const account of [owner, member, other]) await withPicture(account);
    const group = await makeGroup(admin, "Pictures", [member, other]);
    // Only administrators find groups while people do not find each other.
    await server().change(owner.id, { role: "admin" });
    const share = await shareWithGroup(owner.client, await owner.client.folderId("trips"), group);
    await server().change(owner.id, { role: "user" });
    expect([await sees(owner, member), await sees(member, owner), await sees(member, other)]).toEqual([
      true,
      true,
      false,
    ]);
    await expel(admin, group, member);
    expect([await sees(owner, member), await sees(member, owner)]).toEqual([false, false]);
    // Who left a share no longer belongs to it.
    expectStatus(await other.client.delete(`/api/shares/received/${share}`), 200);
    expect([await sees(owner, other), await sees(other, owner)]).toEqual([false, false]);
  });

  test("a link, a drop box, and a share for an email without an account show it to nobody", async () => {
    const owner = await withPicture(await server().signUp());
    const stranger = await server().signUp();
    const folder = await owner.client.folderId("open");
    expectStatus(await owner.client.post(`/api/files/folders/${folder}/shares`, {}), 201);
    await shareWith(owner.client, folder, { email: "nobody-here@example.org" });
    expect(await sees(stranger, owner)).toBe(false);
  });

  test("of a disabled person is visible only to administrators", async () => {
    const [gone, friend] = [await withPicture(await server().signUp()), await server().signUp()];
    await shareWith(gone.client, await gone.client.storedId("x"), friend);
    expect(await sees(friend, gone)).toBe(true);
    await server().change(gone.id, { disabled: true });
    expect(await sees(friend, gone)).toBe(false);
    expect(await sees(admin, gone)).toBe(true);
    expectError(await gone.client.get(pictureOf(gone)), 401, "revoked_token");
  });

  test("is visible to everybody while people find each other", async () => {
    const [one, other] = [await findable().signUp(), await findable().signUp()];
    await withPicture(one);
    expect(await sees(other, one)).toBe(true);
    await findable().change(one.id, { disabled: true });
    expect(await sees(other, one)).toBe(false);
  });

  test("only administrators remove it, which is audited", async () => {
    const owner = await withPicture(await server().signUp());
    const path = `/api/admin/users/${owner.id}/avatar`;
    expectError(await person.client.delete(path), 403, "role");
    await confirmIdentity(admin);
    expectStatus(await admin.client.delete(path), 200);
    expectError(await admin.client.delete(path), 404, "not_found");
    expect((await owner.client.get("/api/users/profile")).at("data.avatar")).toBeNull();
    const audited = await admin.client.get("/api/admin/audit?action=user.remove_avatar");
    expect(audited.at("data.entries.0")).toMatchObject({ action: "user.remove_avatar" });
  });
});

describe("the picture on the page of a link", () => {
  const openLink = async (owner: Account, settings: object = {}) => {
    const folder = await owner.client.folderId(`link-${crypto.randomUUID()}`);
    const made = await owner.client.post(`/api/files/folders/${folder}/shares`, settings);
    expectStatus(made, 201);
    return { id: made.string("data.id"), token: made.string("data.token") };
  };
  const page = (token: string, path = "") => server().visitor.get(`/s/${token}${path}`);

  test("is the small one, while the link is open and the name is shown", async () => {
    const owner = await withPicture(await server().signUp({ name: "Sharon Sharer" }));
    const { id, token } = await openLink(owner);
    const address = /<img class="sharer" src="([^"]+)"/.exec((await page(token)).text)?.[1] ?? "";
    const picture = await server().visitor.get(address);
    expectStatus(picture, 200);
    expect((await sharp(picture.bytes).metadata()).width).toBe(64);
    expect(picture.header("cache-control")).toBe("private, no-cache");
    expect(picture.header("x-robots-tag")).toBe("noindex");
    expect(picture.header("content-security-policy")).toContain("sandbox");
    const dropBox = await openLink(owner, { permissions: "upload" });
    expect((await page(dropBox.token)).text).toContain('<img class="sharer"');
    // The owner hides the name.
    expectStatus(await owner.client.put("/api/users/settings", { showNameToGuests: false }), 200);
    expect((await page(token)).text).not.toContain("sharer");
    expectError(await page(token, "/sharer"), 404, "not_found");
    expectStatus(await owner.client.put("/api/users/settings", { showNameToGuests: true }), 200);
    expectStatus(await page(token, "/sharer"), 200);
    expectStatus(await owner.client.delete(`/api/shares/${id}`), 200);
    expectError(await page(token, "/sharer"), 404, "not_found");
  });

  test("is not shown by a locked link, one of a disabled account, a share with a person, or without a picture", async () => {
    const owner = await withPicture(await server().signUp({ name: "Locked Owner" }));
    const locked = await openLink(owner, { password: "open sesame 1" });
    expect((await page(locked.token)).text).not.toContain("sharer");
    expectError(await page(locked.token, "/sharer"), 401, "password_required");
    const friend = await server().signUp({ name: "No Picture" });
    const shares = await owner.client.post(`/api/files/folders/${await owner.client.folderId("theirs")}/shares`, {
      user: friend.email,
    });
    expectError(await friend.client.get(`/s/${shares.string("data.token")}/sharer`), 404, "not_found");
    const without = await openLink(friend);
    expect((await page(without.token)).text).toContain("Shared by <bdi>No Picture</bdi>");
    expectError(await page(without.token, "/sharer"), 404, "not_found");
    const open = await openLink(owner);
    await server().change(owner.id, { disabled: true });
    expectError(await page(open.token, "/sharer"), 404, "not_found");
  });
});

testAllResponses(server);
