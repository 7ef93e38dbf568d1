// A folder is shared for reading, and a folder in it in another way. What lists offer is what the server lets the recipient do.
import { beforeAll, describe, expect, test } from "bun:test";
import { shareWith, soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import type { Account } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { expel, makeGroup, shareWithGroup } from "../support/groups.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_SHOW_PEOPLE: "on" } });
let admin: Account;
beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
});

/** Below the inner folder, and beside it. */
type Rights = readonly [below: string, beside: string];

async function createScene() {
  const [owner, recipient] = [await server().signUp(), await server().signUp()];
  const outer = await owner.client.folderId("viewed");
  const inner = await owner.client.folderId("edited", "/viewed");
  const below = await owner.client.storedId("1", { name: "below.txt", fields: { folder: "/viewed/edited" } });
  const beside = await owner.client.storedId("2", { name: "beside.txt", fields: { folder: "/viewed" } });
  await shareWith(owner.client, outer, recipient);
  const favorites = await recipient.client.post("/api/favorites", { ids: [below, beside], favorite: true });
  expect(favorites.at("data.failed")).toEqual([]);
  for (const id of [below, beside]) expectStatus(await recipient.client.post(`/api/files/${id}/opened`, {}), 200);
  return { owner, recipient, inner, files: [below, beside] };
}

type Scene = Awaited<ReturnType<typeof createScene>>;

/** What each list offers for both files, and what the server allows. */
async function rightsOf({ recipient: { client }, files }: Scene): Promise<Record<string, Rights>> {
  const lists = {
    favorites: (await client.get("/api/favorites")).list("data.favorites"),
    recent: (await client.get("/api/files/recent")).list("data.files"),
    search: (await client.get("/api/files/search?q=be")).list("data.files"),
  };
  const found: Record<string, Rights> = {};
  for (const [list, items] of Object.entries(lists)) {
    const offered = (id = "") => {
      const item = Object(items.find((one) => Reflect.get(Object(one), "id") === id));
      return `${item.permission}${item.canManage === true ? ", manage" : ""}`;
    };
    found[list] = [offered(files[0]), offered(files[1])];
  }
  const allowed = async (id = "") => {
    const written = await client.putContent(id, crypto.randomUUID());
    const renamed = await client.put(`/api/files/${id}`, { name: `be-${crypto.randomUUID()}.txt` });
    return `${written.status === 200 ? "write" : "read"}${renamed.status === 200 ? ", manage" : ""}`;
  };
  found["allowed"] = [await allowed(files[0]), await allowed(files[1])];
  return found;
}

const same = (rights: Rights) => ({ favorites: rights, recent: rights, search: rights, allowed: rights });
const WRITE: Rights = ["write, manage", "read"];
const READ: Rights = ["read", "read"];

describe("a folder for writing in one for reading", () => {
  test("can be written, and nothing beside it, until its share is removed", async () => {
    const scene = await createScene();
    const share = await shareWith(scene.owner.client, scene.inner, scene.recipient, { permissions: "write" });
    expect(await rightsOf(scene)).toEqual(same(WRITE));
    expectStatus(await scene.owner.client.delete(`/api/shares/${share}`), 200);
    expect(await rightsOf(scene)).toEqual(same(READ));
  });

  test("can be written until its share expires", async () => {
    const scene = await createScene();
    const expiresAt = soonExpiry();
    await shareWith(scene.owner.client, scene.inner, scene.recipient, { permissions: "write", expiresAt });
    await waitForExpiry(expiresAt);
    expect(await rightsOf(scene)).toEqual(same(READ));
  });

  test("can be written until the recipient leaves the group with which it is shared", async () => {
    const scene = await createScene();
    const group = await makeGroup(admin, "Writers", [scene.recipient]);
    await shareWithGroup(scene.owner.client, scene.inner, group, { permissions: "write" });
    expect(await rightsOf(scene)).toEqual(same(WRITE));
    await expel(admin, group, scene.recipient);
    expect(await rightsOf(scene)).toEqual(same(READ));
  });

  test("can be written until a file is moved out of it", async () => {
    const scene = await createScene();
    await shareWith(scene.owner.client, scene.inner, scene.recipient, { permissions: "write" });
    const [below = ""] = scene.files;
    expectStatus(await scene.owner.client.put(`/api/files/${below}`, { folder: "/viewed" }), 200);
    expect(await rightsOf(scene)).toEqual(same(READ));
  });
});

testAllResponses(server);
