// The pages that the audits visit, with content on each.
import type { Account } from "../../test/support/client.ts";
import { confirmIdentity } from "../../test/support/confirm-identity.ts";
import { eventually } from "../../test/support/expect.ts";
import { photo } from "../../test/support/sample-library.ts";
import { makeZip } from "../../test/support/zip-files.ts";

const SHARED_PHOTOS = 24;

/** Pages that visitors see. */
export const VISITOR_PAGES = ["/sign-in", "/sign-up"];

/** Pages of links that don't work. */
export const REJECTING_PAGES = [
  "/nowhere",
  "/s/none",
  ...["confirm-email", "invite", "reset-password", "setup", "welcome"].map((name) => `/${name}?token=none`),
];

/** Pages of an administrator. */
export const PAGES = [
  "/home",
  "/files",
  "/files/House",
  "/photos",
  "/photos/places",
  "/albums",
  "/favorites",
  "/search?q=plan",
  "/shared/by-me",
  "/shared/with-me",
  "/trash",
  ...["restore", "rewind", "holds", "conflicts"].map((tab) => `/history?tab=${tab}`),
  ...["profile", "security", "sessions", "connect", "devices", "api-keys", "notifications", "usage"].map(
    (name) => `/settings/${name}`,
  ),
  ...["appearance", "account", "import"].map((name) => `/settings/${name}`),
  ...["health", "users", "groups", "invites", "settings", "plans", "storage", "jobs", "audit", "integrity"].map(
    (name) => `/admin/${name}`,
  ),
  ...["webhooks", "imports", "config"].map((name) => `/admin/${name}`),
];

/** Pages of things that were made here: an album, an archive, shared links of a folder and of a file, and a new person. */
export async function ownPages(account: Account): Promise<{ signedIn: string[]; visitors: string[] }> {
  const { client } = account;
  const folder = await sharedFolder(account);
  const photos = (await client.get("/api/photos?limit=20")).strings("data.photos", "id");
  // Long enough to be scrolled on every screen.
  const note = await client.storedId("# Garden\n\n- beans\n".repeat(50), { name: "Garden.md", type: "text/markdown" });
  const zip = makeZip([
    { name: "beds/beans.txt", content: "rows of beans" },
    { name: "plan.md", content: "# Plan" },
  ]);
  const archive = await client.storedId(zip, { name: "garden.zip", type: "application/zip" });
  await eventually("the note is found by its content", async () => {
    const found = await client.get("/api/files/search?q=content:beans");
    return found.list("data.files").length > 0;
  });
  await confirmIdentity(account);
  const person = await client.post("/api/admin/users", { email: "new@example.org", name: "Nora New" });
  const invite = await client.post("/api/admin/invites", { email: "invited@example.org" });
  const other = await client.post("/api/admin/users", { email: "old@example.org", password: "correct horse" });
  const reset = await client.post(`/api/admin/users/${other.string("data.id")}/reset-link`, {});
  const links = [person.string("data.passwordLink.url"), invite.string("data.url"), reset.string("data.url")];
  const received = (await client.get("/api/shares/received")).strings("data.shares", "id");
  const album = await client.post("/api/albums", { name: "A summer by the lake", fileIds: photos });
  const shares = [
    await client.post(`/api/files/folders/${folder}/shares`, {}),
    await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" }),
    await client.post(`/api/files/${photos[0] ?? ""}/shares`, { password: "correct horse" }),
    await client.post(`/api/files/${photos[0] ?? ""}/shares`, {}),
    await client.post(`/api/albums/${album.string("data.id")}/shares`, {}),
  ];
  return {
    signedIn: [
      `/albums/${album.string("data.id")}`,
      `/photos?view=${photos[0] ?? ""}`,
      `/files/Lake?details=${folder}`,
      `/edit/${note}`,
      `/files?view=${archive}`,
      `/files?dialog=extract&item=${archive}`,
      `/files?dialog=share&item=${note}`,
      "/search?q=beans",
      `/shared/with-me?share=${received[0] ?? ""}`,
    ],
    visitors: [...shares.map((share) => `/s/${share.string("data.token")}`), ...links.map(pathOf)],
  };
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Stores a folder of photos, and returns its id. */
export async function sharedFolder({ client }: Account): Promise<string> {
  const folder = await client.folderId("Lake");
  for (let number = 0; number < SHARED_PHOTOS; number++) {
    const content = await photo(number, new Date(Date.UTC(2025, 6, 1 + number)));
    await client.storedId(content, { name: `IMG_${number}.jpg`, fields: { folder: "/Lake" } });
  }
  return folder;
}
