import { beforeAll, describe, expect, test } from "bun:test";
import { shareWith, soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import { createAppPassword, sendDav } from "../support/app-passwords.ts";
import { type Account, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { expel, join, makeGroup, shareWithGroup } from "../support/groups.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_SHOW_PEOPLE: "on" } });

let admin: Account;

beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
});

interface Scene {
  owner: Account;
  member: Account;
  stranger: Account;
  group: string;
  folder: string;
  file: string;
  share: string;
}

let scenes = 0;

/** An owner who shares `/trips` with a group of one member. */
async function createScene(settings: Record<string, unknown> = {}): Promise<Scene> {
  const owner = await server().signUp({ name: "Olga Owner" });
  const member = await server().signUp({ name: "Mia Member" });
  const stranger = await server().signUp();
  const group = await makeGroup(admin, `Family ${++scenes}`, [member]);
  const folder = await owner.client.folderId("trips");
  const file = await owner.client.storedId("a rome story", { name: "rome.txt", fields: { folder: "/trips" } });
  const share = await shareWithGroup(owner.client, folder, group, settings);
  return { owner, member, stranger, group, folder, file, share };
}

const receivedBy = async ({ client }: Account) =>
  (await client.get("/api/shares/received")).strings("data.shares", "id");

/** Every way of an account to a file of a share has this status. */
async function expectReach({ client }: Account, { file, folder, share }: Scene, status: 200 | 404): Promise<void> {
  for (const path of [
    `/api/files/${file}`,
    `/api/files/${file}/download`,
    `/api/files/${file}/checksum`,
    `/api/files/folders/${folder}`,
    `/api/files?share=${share}`,
  ]) {
    expect({ path, status: (await client.get(path)).status }).toEqual({ path, status });
  }
}

describe("groups of administrators", () => {
  test("are made, listed, renamed and deleted, and their names are unique", async () => {
    const member = await server().signUp({ name: "Zoe" });
    const id = await makeGroup(admin, "  Neighbours ", [member]);
    expect(id).toStartWith("grp_");
    expectError(await admin.client.post("/api/admin/groups", { name: "neighbours" }), 409, "name_taken");
    expectError(await admin.client.post("/api/admin/groups", { name: " " }), 400, "invalid_field", "name");
    const listed = (await admin.client.get("/api/admin/groups")).list("data.groups");
    expect(listed).toContainEqual(expect.objectContaining({ id, name: "Neighbours", members: 1, shares: 0 }));
    const members = await admin.client.get(`/api/admin/groups/${id}/members`);
    expect(members.at("data.members.0")).toMatchObject({ id: member.id, name: "Zoe", disabled: false });
    const renamed = await admin.client.patch(`/api/admin/groups/${id}`, { name: "NEIGHBOURS" });
    expect(renamed.at("data.name")).toBe("NEIGHBOURS");
    expectStatus(await admin.client.delete(`/api/admin/groups/${id}`), 200);
    expectError(await admin.client.get(`/api/admin/groups/${id}`), 404, "not_found");
    expectError(await admin.client.delete(`/api/admin/groups/${id}`), 404, "not_found");
  });

  test("are for administrators, and members are added with proof and never with a key", async () => {
    const user = await server().signUp();
    const group = await makeGroup(admin, "Guarded");
    const add = `/api/admin/groups/${group}/members/${user.id}`;
    for (const response of [
      await user.client.get("/api/admin/groups"),
      await user.client.post("/api/admin/groups", { name: "Mine" }),
      await user.client.put(add, { currentPassword: user.password }),
      await user.client.delete(`/api/admin/groups/${group}`),
    ]) {
      expectError(response, 403, "role");
    }
    const unproven = await server().addUser(["--admin"]);
    expectError(await unproven.client.put(add, {}), 401, "password_required");
    const key = await admin.client.post("/api/users/api-keys", { name: "k", scopes: ["admin"] });
    expectError(await new Client(server(), key.string("data.key")).put(add, {}), 403, "scope");
    expect((await admin.client.get(`/api/admin/groups/${group}`)).at("data.members")).toBe(0);
    expectError(await admin.client.put(`/api/admin/groups/${group}/members/usr_x`, {}), 404, "not_found");
    expectError(await admin.client.delete(add), 404, "not_found");
    const actions = (await admin.client.get("/api/admin/audit?limit=100")).strings("data.entries", "action");
    expect(actions).toContain("group.create");
  });
});

describe("a share with a group", () => {
  test("is one share, for whom its owner sees the name of the group", async () => {
    const { owner, member, group, folder, share } = await createScene();
    const listed = await owner.client.get(`/api/files/folders/${folder}/shares`);
    expect(listed.list("data.shares")).toHaveLength(1);
    expect(listed.at("data.shares.0")).toMatchObject({
      id: share,
      kind: "account",
      user: null,
      person: null,
      group: { id: group },
    });
    const received = await member.client.get("/api/shares/received");
    expect(received.at("data.shares.0")).toMatchObject({ id: share, group: { id: group }, permissions: "read" });
    expect(await receivedBy(owner)).toEqual([]);
    await eventually("the member is notified", async () => {
      const inbox = await member.client.get("/api/users/notifications");
      return inbox.text.includes(share);
    });
  });

  test("opens for those who join, and closes at once for those who leave", async () => {
    const scene = await createScene({ permissions: "write" });
    const { member, stranger, group, share, folder } = scene;
    await expectReach(member, scene, 200);
    await expectReach(stranger, scene, 404);
    await join(admin, group, stranger);
    await expectReach(stranger, scene, 200);
    expect(await receivedBy(stranger)).toEqual([share]);
    const dav = await connectDav(stranger, { access: "write" });
    expect((await dav.request("PROPFIND", "Shared%20with%20me/trips/", { headers: { depth: "1" } })).text).toContain(
      "rome.txt",
    );
    const found = await stranger.client.get("/api/files?search=rome&shared=true");
    expectStatus(found, 200);
    expectStatus(await stranger.client.post("/api/favorites", { ids: [folder], favorite: true }), 200);
    await expel(admin, group, stranger);
    await expectReach(stranger, scene, 404);
    expect(await receivedBy(stranger)).toEqual([]);
    expect((await stranger.client.get("/api/favorites")).text).not.toContain("trips");
    expectStatus(await dav.request("PROPFIND", "Shared%20with%20me/trips/", { headers: { depth: "1" } }), 404);
    expectStatus(await dav.put("Shared%20with%20me/trips/new.txt", "late"), 409);
    const late = await stranger.client.upload("late", { name: "late.txt", fields: { share } });
    expectError(late, 404, "not_found");
    await expectReach(member, scene, 200);
  });

  test("ends with the group, for good", async () => {
    const scene = await createScene();
    await expectReach(scene.member, scene, 200);
    expectStatus(await admin.client.delete(`/api/admin/groups/${scene.group}`), 200);
    await expectReach(scene.member, scene, 404);
    expect((await scene.owner.client.get(`/api/files/folders/${scene.folder}/shares`)).list("data.shares")).toEqual([]);
  });

  test("gives nothing to disabled members and after its expiry, and only reading to viewers", async () => {
    const scene = await createScene({ permissions: "write" });
    const { member, file } = scene;
    await server().change(member.id, { role: "viewer" });
    const signIn = await server().visitor.post("/api/auth/signin", { email: member.email, password: member.password });
    const viewer = new Client(server(), signIn.string("token"));
    expectStatus(await viewer.get(`/api/files/${file}`), 200);
    expectError(await viewer.delete(`/api/files/${file}`), 403, "role");
    await server().change(member.id, { disabled: true });
    expect((await viewer.get(`/api/files/${file}`)).status).toBeGreaterThanOrEqual(401);
  });

  test("can be hidden by a member, for that member only, until it is shared again", async () => {
    const scene = await createScene();
    const { owner, member, stranger, group, folder, share } = scene;
    await join(admin, group, stranger);
    expectStatus(await member.client.delete(`/api/shares/received/${share}`), 200);
    await expectReach(member, scene, 404);
    expect(await receivedBy(member)).toEqual([]);
    await expectReach(stranger, scene, 200);
    expectError(await member.client.delete(`/api/shares/received/${share}`), 404, "not_found");
    const again = await owner.client.post(`/api/files/folders/${folder}/shares`, { groups: [group] });
    expect(again.at("data.updated")).toEqual([share]);
    await expectReach(member, scene, 200);
  });

  test("is listed once for a member of two groups, with the better permission", async () => {
    const { owner, member, folder, share } = await createScene();
    const other = await makeGroup(admin, `Second ${scenes}`, [member]);
    const better = await shareWithGroup(owner.client, folder, other, { permissions: "write" });
    expect(await receivedBy(member)).toEqual([better]);
    expectStatus(await owner.client.delete(`/api/shares/${better}`), 200);
    expect(await receivedBy(member)).toEqual([share]);
  });

  test("is not received by a member who owns it, and survives the deletion of a member", async () => {
    const { owner, member, group, folder } = await createScene();
    await join(admin, group, owner);
    expect(await receivedBy(owner)).toEqual([]);
    expectStatus(await member.client.delete("/api/users/profile", { password: member.password }), 200);
    expect((await admin.client.get(`/api/admin/groups/${group}`)).at("data.members")).toBe(1);
    expect((await owner.client.get(`/api/files/folders/${folder}/shares`)).list("data.shares")).toHaveLength(1);
  });

  test("of an album opens its files for members only", async () => {
    const { owner, member, stranger, group } = await createScene();
    const file = await owner.client.storedId("photo", { name: "photo.txt" });
    const made = await owner.client.post("/api/albums", { name: "Summer", fileIds: [file] });
    expectStatus(made, 201);
    const album = made.string("data.id");
    await shareWithGroup(owner.client, album, group);
    expectStatus(await member.client.get(`/api/albums/${album}`), 200);
    expectStatus(await member.client.get(`/api/files/${file}/download`), 200);
    expectError(await stranger.client.get(`/api/albums/${album}`), 404, "not_found");
    await expel(admin, group, member);
    expectError(await member.client.get(`/api/albums/${album}`), 404, "not_found");
    expectError(await member.client.get(`/api/files/${file}/download`), 404, "not_found");
  });

  test("ends for the next part of a download, for search, for API keys and for app passwords", async () => {
    const scene = await createScene();
    const { owner, member, stranger, group, file } = scene;
    await owner.client.stored("private words", { name: "quixotic.txt", fields: { folder: "/trips" } });
    await join(admin, group, stranger);
    const accounts = [member, stranger];
    const keys = await Promise.all(accounts.map((account) => createKey(account)));
    const passwords = await Promise.all(accounts.map((account) => createAppPassword(account)));
    const part = (client: Client) =>
      client
        .request("GET", `/api/files/${file}/download`, { headers: { range: "bytes=2-5" } })
        .then(({ status }) => status);
    const search = async (client: Client) => (await client.get("/api/files/search?q=quixotic")).text;
    const suggest = async (client: Client) => (await client.get("/api/files/search/suggestions?q=quixot")).text;
    const list = async (index: number) => {
      const password = passwords[index];
      if (password === undefined) throw new Error("each account has an app password");
      return sendDav(server(), password, "PROPFIND", "Shared%20with%20me/", { headers: { depth: "1" } });
    };
    for (const [index, { client }] of accounts.entries()) {
      expect(await part(client)).toBe(206);
      expect(await part(keys[index] ?? client)).toBe(206);
      expect(await search(client)).toContain("quixotic.txt");
      expect(await suggest(client)).toContain("quixotic");
      expect((await list(index)).text).toContain("trips");
    }

    await expel(admin, group, stranger);
    expect(await part(stranger.client)).toBe(404);
    expect(await part(keys[1] ?? stranger.client)).toBe(404);
    expect(await search(stranger.client)).not.toContain("quixotic.txt");
    expect(await suggest(stranger.client)).not.toContain("quixotic");
    expect((await list(1)).text).not.toContain("trips");

    await server().change(member.id, { disabled: true });
    expect(await part(member.client)).toBe(401);
    expect(await part(keys[0] ?? member.client)).toBe(401);
    expectStatus(await list(0), 401);
  });

  test("that has expired opens nothing, and of two grants the one that is left counts", async () => {
    const expiresAt = soonExpiry();
    const scene = await createScene({ permissions: "write", expiresAt });
    const { owner, member, folder, file } = scene;
    const own = await shareWith(owner.client, folder, member);
    const rename = (name: string) => member.client.put(`/api/files/${file}`, { name });
    expectStatus(await rename("by group.txt"), 200);
    await waitForExpiry(expiresAt);
    await expectReach(member, { ...scene, share: own }, 200);
    expect((await rename("too late.txt")).status).toBeGreaterThanOrEqual(403);
    expectStatus(await owner.client.delete(`/api/shares/${own}`), 200);
    await expectReach(member, scene, 404);
    expect(await receivedBy(member)).toEqual([]);
  });
});

/** A client with an API key that reads files. */
async function createKey({ client, password }: Account): Promise<Client> {
  const settings = { name: "k", scopes: ["files:read"], currentPassword: password };
  const made = await client.post("/api/users/api-keys", settings);
  expectStatus(made, 201);
  return new Client(server(), made.string("data.key"));
}

testAllResponses(server);
