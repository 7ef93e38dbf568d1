// What chat programs and social networks show of a link, and what its pages say about the person who shares it.
import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { describeImage, jpegPhoto } from "../support/images.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** The programs that preview links most, as they call themselves. Signal calls itself WhatsApp. */
const CRAWLERS = [
  "WhatsApp/2.23.20.0",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "TelegramBot (like TwitterBot)",
  "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
];
const PERSON = "Mozilla/5.0 (Linux; Android 14; CUBOT X70) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36";

async function createShare(
  client: Client,
  path: string,
  settings: object = {},
): Promise<{ id: string; token: string }> {
  const made = await client.post(`/api/${path}/shares`, settings);
  expectStatus(made, 201);
  return { id: made.string("data.id"), token: made.string("data.token") };
}

/** The Open Graph and Twitter elements of a page. */
function metasOf(page: ApiResponse): Record<string, string> {
  const found = page.text.matchAll(/<meta (?:property|name)="((?:og|twitter):[^"]+)" content="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name = "", content = ""]) => [name, content]));
}

function titleOf(page: ApiResponse): string {
  return /<title>([^<]*)<\/title>/.exec(page.text)?.[1] ?? "";
}

const pathOf = (url = "") => url.replace(/^https?:\/\/[^/]+/, "").replaceAll("&amp;", "&");
const open = (token: string, query = "") => server().visitor.get(`/s/${token}${query}`);
const picture = (token: string, query = "") => server().visitor.get(`/s/${token}/picture${query}`);

describe("the preview of a link", () => {
  test("to a photo has its name, its kind, who shares it, and a small thumbnail without location", async () => {
    const { client } = await server().signUp({ name: "Anna <3" });
    const id = await client.storedId(await jpegPhoto(1200, 900), { name: `beach "1".jpg` });
    const { token } = await createShare(client, `files/${id}`);
    const page = await open(token);
    expect(page.header("x-robots-tag")).toBe("noindex");
    const metas = metasOf(page);
    expect(metas).toMatchObject({
      "og:title": "beach &quot;1&quot;.jpg",
      "og:type": "website",
      "og:site_name": "Larder",
      "twitter:card": "summary_large_image",
      "og:image:type": "image/webp",
    });
    expect(metas["og:description"]).toMatch(/^Image \(JPG\) · .* · Shared by Anna &lt;3$/);
    expect(metas["og:image"]).toBe(`${server().url}/s/${token}/picture`);
    const image = await server().visitor.get(pathOf(metas["og:image"]));
    expectStatus(image, 200);
    expect(image.header("content-type")).toBe("image/webp");
    expect(image.header("etag")).not.toBe("");
    expect(image.header("x-robots-tag")).toBe("noindex");
    const { hasExif, width, height } = await describeImage(image.bytes);
    expect(hasExif).toBe(false);
    expect(Math.max(width, height)).toBeLessThanOrEqual(512);
    const again = await server().visitor.get(`/s/${token}/picture`, { "if-none-match": image.header("etag") });
    expectStatus(again, 304);
  });

  test("to a folder or an album has the number of items and one of the pictures, and is absolute by the public address", async () => {
    await withServer({ env: { LARDER_PUBLIC_URL: "https://files.example.org/larder" } }, async (own) => {
      const { client } = await own.signUp({ name: "Anna" });
      const tripId = await client.folderId("trip");
      await client.storedId("x", { name: "a.txt", fields: { folder: "/trip" } });
      const photo = await client.storedId(await jpegPhoto(42, 30), {
        name: "b.jpg",
        fields: { folder: "/trip" },
      });
      const folder = await createShare(client, `files/folders/${tripId}`);
      const page = await own.visitor.get(`/larder/s/${folder.token}`);
      expect(metasOf(page)).toMatchObject({
        "og:title": "trip",
        "og:description": "2 items · Shared by Anna",
        "og:image": `https://files.example.org/larder/s/${folder.token}/picture?fileId=${photo}`,
      });
      expectStatus(await own.visitor.get(`/larder/s/${folder.token}/picture?fileId=${photo}`), 200);
      const other = await client.storedId(await jpegPhoto(43, 30), { name: "c.jpg" });
      const album = await client.post("/api/albums", { name: "Best", fileIds: [photo, other] });
      expectStatus(await client.patch(`/api/albums/${album.string("data.id")}`, { coverFileId: other }), 200);
      const shared = await createShare(client, `albums/${album.string("data.id")}`);
      const cover = metasOf(await own.visitor.get(`/larder/s/${shared.token}`));
      expect(cover["og:image"]).toEndWith(`/s/${shared.token}/picture?fileId=${other}`);
    });
  });

  test("of a file without thumbnail has no picture, and the picture never sends a content", async () => {
    const { client } = await server().signUp();
    const { token } = await createShare(client, `files/${await client.storedId("x", { name: "a.bin" })}`);
    const metas = metasOf(await open(token));
    expect(metas["og:image"]).toBeUndefined();
    expect(metas["twitter:card"]).toBe("summary");
    expectStatus(await picture(token), 404);
    // A file that looks like a photo, but is none.
    const broken = await createShare(client, `files/${await client.storedId("no photo", { name: "a.jpg" })}`);
    expectStatus(await picture(broken.token), 404);
  });

  test("has a neutral name and the same thumbnail if the link hides the location", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(44, 30), { name: "IMG_20240611_Zurich.jpg" });
    const { token } = await createShare(client, `files/${id}`, { hideLocation: true });
    const page = await open(token);
    expect(metasOf(page)["og:title"]).toBe("photo.jpg");
    expect(page.text).not.toContain("Zurich");
    const image = await picture(token);
    expectStatus(image, 200);
    expect((await describeImage(image.bytes)).hasExif).toBe(false);
    expect(image.header("content-disposition")).not.toContain("Zurich");
  });

  test("is the same for all clients; those of crawlers count neither views nor downloads, nor use up a limit", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(45, 30), { name: "a.jpg" });
    const { id: shareId, token } = await createShare(client, `files/${id}`, { maxDownloads: 1 });
    const countsAfter = async (views: number) => {
      const share = () => client.get(`/api/shares/${shareId}`);
      await eventually("the view is counted", async () => (await share()).at("data.views") === views);
      return (await share()).at("data.downloads");
    };
    const asPerson = await server().visitor.get(`/s/${token}`, { "user-agent": PERSON });
    expect(await countsAfter(1)).toBe(0);
    for (const agent of CRAWLERS) {
      const headers = { "user-agent": agent };
      const page = await server().visitor.get(`/s/${token}`, headers);
      expect(page.text).toBe(asPerson.text);
      expectStatus(await server().visitor.get(pathOf(metasOf(page)["og:image"]), headers), 200);
    }
    await server().visitor.get(`/s/${token}`, { "user-agent": PERSON });
    expect(await countsAfter(2)).toBe(0);
    expectStatus(await server().visitor.get(`/s/${token}/download`), 200);
  });

  test("counts towards the limits of requests", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "", LARDER_PLANS_FREE_LIMIT_GENERAL: "2" } }, async (own) => {
      const { client } = await own.signUp();
      const { token } = await createShare(
        client,
        `files/${await client.storedId(await jpegPhoto(46, 30), { name: "a.jpg" })}`,
      );
      const statuses = [];
      for (let request = 0; request < 3; request += 1)
        statuses.push((await own.visitor.get(`/s/${token}/picture`)).status);
      expect(statuses).toEqual([200, 200, 429]);
    });
  });

  test("does not exist for links that are not open to everybody: they have a neutral title and no picture", async () => {
    const { client, email } = await server().signUp({ name: "Secret Sharer" });
    const { client: recipient, email: recipientEmail } = await server().signUp();
    const folder = `files/folders/${await client.folderId("private")}`;
    const photo = await client.storedId(await jpegPhoto(47, 30), {
      name: "salary.jpg",
      fields: { folder: "/private" },
    });
    const locked = await createShare(client, `files/${photo}`, { password: "open sesame" });
    const expired = await createShare(client, `files/${photo}`, { expiresIn: "1s" });
    const used = await createShare(client, `files/${photo}`, { maxDownloads: 1 });
    const box = await createShare(client, folder, { permissions: "upload", label: "Doctor's letters" });
    const account = await createShare(client, `files/${photo}`, { user: recipientEmail });
    expectStatus(await server().visitor.get(`/s/${used.token}/download`), 200);
    await eventually("it expires", async () => (await open(expired.token)).status === 410);
    for (const [{ token }, status, title] of [
      [locked, 401, "Enter the password"],
      [expired, 410, "This link has expired"],
      [used, 410, "This link has reached its download limit"],
      [box, 200, "Upload files"],
      [account, 404, "Link not found"],
    ] as const) {
      const page = await open(token);
      expectStatus(page, status);
      expect(metasOf(page)).toEqual({});
      expect(titleOf(page)).toBe(title);
      expect(page.text).not.toContain("salary");
      expect(page.text).not.toContain(email);
      for (const query of ["", `?fileId=${photo}`]) {
        const image = await picture(token, query);
        expect(image.status).toBeGreaterThanOrEqual(400);
        expect(image.text).not.toContain("salary");
      }
    }
    // Only the drop box says who receives the files: people must know where they send them.
    expect((await open(locked.token)).text).not.toContain("Secret Sharer");
    expect((await open(box.token)).text).toContain("Secret Sharer");
    // A password that was entered opens the page, but no preview.
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const entered = { body: "password=open+sesame", headers: form };
    const unlocked = await server().visitor.request("POST", `/s/${locked.token}/unlock`, entered);
    const cookie = { cookie: unlocked.header("set-cookie").split(";")[0] ?? "" };
    const shown = await server().visitor.get(`/s/${locked.token}`, cookie);
    expect(shown.text).toContain("salary.jpg");
    expect(metasOf(shown)).toEqual({});
    expectStatus(await server().visitor.get(`/s/${locked.token}/picture`, cookie), 404);
    expectStatus(await recipient.get(`/s/${account.token}/picture`), 404);
  });

  test("ends with the link, with the account, and outside of what is shared", async () => {
    const { client, id: userId } = await server().addUser([]);
    const folder = `files/folders/${await client.folderId("trip")}`;
    const inside = await client.storedId(await jpegPhoto(48, 30), { name: "a.jpg", fields: { folder: "/trip" } });
    const outside = await client.storedId(await jpegPhoto(49, 30), { name: "b.jpg" });
    const { token } = await createShare(client, folder);
    const revoked = await createShare(client, folder);
    expectStatus(await picture(token, `?fileId=${inside}`), 200);
    expectStatus(await picture(token, `?fileId=${outside}`), 404);
    expectStatus(await picture(token), 404);
    expectStatus(await client.delete(`/api/shares/${revoked.id}`), 200);
    expectStatus(await picture(revoked.token, `?fileId=${inside}`), 404);
    await server().change(userId, { disabled: true });
    const page = await open(token);
    expectStatus(page, 404);
    expect(metasOf(page)).toEqual({});
    expectStatus(await picture(token, `?fileId=${inside}`), 404);
  });
});

describe("the person who shares", () => {
  test("is named on the pages of files, folders, albums and drop boxes, unless they turn that off", async () => {
    const name = "\u05d0\u05e0\u05d4 \u202e<script>";
    const { client, email } = await server().signUp({ name });
    const folder = `files/folders/${await client.folderId("trip")}`;
    const photo = await client.storedId("x", { name: "a.txt", fields: { folder: "/trip" } });
    const album = (await client.post("/api/albums", { name: "Best", fileIds: [photo] })).string("data.id");
    const tokens = [
      await createShare(client, `files/${photo}`),
      await createShare(client, folder),
      await createShare(client, `albums/${album}`),
      await createShare(client, folder, { permissions: "upload" }),
    ].map(({ token }) => token);
    const shown = "<bdi>\u05d0\u05e0\u05d4 \ufffd&lt;script&gt;</bdi>";
    for (const token of tokens) {
      const page = await open(token);
      expect(page.text).toContain(shown);
      expect(page.text).not.toContain(email);
    }
    expect((await open(tokens[1] ?? "", `?fileId=${photo}`)).text).toContain(shown);
    expect((await client.get("/api/users/settings")).at("data.showNameToGuests")).toBe(true);
    expectStatus(await client.put("/api/users/settings", { showNameToGuests: false }), 200);
    for (const token of tokens) {
      const page = await open(token);
      expectStatus(page, 200);
      expect(page.text).not.toContain("\u05d0\u05e0\u05d4");
    }
    expectStatus(await client.put("/api/users/settings", { showNameToGuests: "yes" }), 400);
  });

  test("is not named by an email address", async () => {
    const { client, email } = await server().signUp();
    expectStatus(await client.put("/api/users/profile", { name: email.toUpperCase() }), 200);
    const { token } = await createShare(client, `files/${await client.storedId("x", { name: "a.txt" })}`);
    expect((await open(token)).text.toLowerCase()).not.toContain(email.toLowerCase());
  });
});

testAllResponses(server);
