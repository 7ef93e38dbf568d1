import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { makeGroup, shareWithGroup } from "../support/groups.ts";
import { createAppPassword, basic } from "../support/app-passwords.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const open = sharedServer({ hasAccounts: true, env: { LARDER_SHOW_PEOPLE: "on" } });
const closed = sharedServer({ hasAccounts: true });
const withEmails = sharedServer({ hasAccounts: true, env: { LARDER_SHOW_PEOPLE: "emails" } });

let admin: Account;

beforeAll(async () => {
  admin = await open().addUser(["--admin"]);
});

const searchPeople = ({ client }: Account, text: string) =>
  client.get(`/api/users/people?q=${encodeURIComponent(text)}`);

async function namesOf(account: Account, text: string): Promise<string[]> {
  const response = await searchPeople(account, text);
  expectStatus(response, 200);
  return response.strings("data.people", "name");
}

async function receivedBy({ client }: Account): Promise<string[]> {
  return (await client.get("/api/shares/received")).strings("data.shares", "id");
}

describe("GET /api/users/people", () => {
  test("finds people and groups by the beginnings of words, without email, role or the caller", async () => {
    const caller = await open().signUp({ name: "Quentin Caller" });
    const found = await open().signUp({ name: "Ada Quentin" });
    await open().signUp({ name: "Marquentin" });
    const group = await makeGroup(admin, "Quentin friends", [caller]);
    const response = await searchPeople(caller, "QUENT");
    expect(response.at("data.people")).toEqual([{ id: found.id, name: "Ada Quentin" }]);
    expect(response.at("data.groups")).toEqual([{ id: group, name: "Quentin friends", members: 1 }]);
    expect((await searchPeople(caller, "")).list("data.people").length).toBeLessThanOrEqual(10);
    expect((await searchPeople(caller, "%")).at("data.people")).toEqual([]);
    expectError(await searchPeople(caller, "x".repeat(101)), 400, "invalid_field", "q");
  });

  test("does not find accounts that are disabled or deleted", async () => {
    const caller = await open().signUp();
    const [disabled, erased] = [await open().signUp({ name: "Wanda A" }), await open().signUp({ name: "Wanda B" })];
    expect(await namesOf(caller, "wanda")).toEqual(["Wanda A", "Wanda B"]);
    await open().change(disabled.id, { disabled: true });
    expectStatus(await erased.client.delete("/api/users/profile", { password: erased.password }), 200);
    expect(await namesOf(caller, "wanda")).toEqual([]);
  });

  test("is closed to viewers, API keys and app passwords", async () => {
    const user = await open().signUp();
    const viewer = await open().signUp();
    await open().change(viewer.id, { role: "viewer" });
    const signIn = await open().visitor.post("/api/auth/signin", { email: viewer.email, password: viewer.password });
    expectError(await new Client(open(), signIn.string("token")).get("/api/users/people?q=a"), 403, "role");
    const key = await user.client.post("/api/users/api-keys", {
      name: "k",
      scopes: ["shares", "profile"],
      currentPassword: user.password,
    });
    expectError(await new Client(open(), key.string("data.key")).get("/api/users/people?q=a"), 403, "scope");
    const { username, password } = await createAppPassword(user);
    const program = new Client(open());
    expect((await program.get("/api/users/people?q=a", basic(username, password))).status).toBe(401);
    expect((await program.get("/api/users/people?q=a")).status).toBe(401);
  });

  test("does not exist while showPeople is off, and ids of people open nothing", async () => {
    const [owner, other] = [await closed().signUp(), await closed().signUp({ name: "Hidden Person" })];
    const response = await searchPeople(owner, "hidden");
    expect(response.status).toBe(404);
    expect(response.at("error")).toEqual((await owner.client.get("/api/users/peopleX")).at("error"));
    const folder = await owner.client.folderId("docs");
    const path = `/api/files/folders/${folder}/shares`;
    const known = await owner.client.post(path, { users: [other.id] });
    expectError(known, 400, "invalid_field", "users");
    expect((await owner.client.post(path, { users: ["usr_00000000000000000000"] })).at("error")).toEqual(
      known.at("error"),
    );
  });

  test("shows and finds email addresses only if the setting says so", async () => {
    const caller = await withEmails().signUp();
    const found = await withEmails().signUp({ name: "Erna" });
    const response = await searchPeople(caller, found.email.slice(0, 12));
    expect(response.list("data.people")).toContainEqual({ id: found.id, name: "Erna", email: found.email });
  });
});

describe("GET /api/users/groups/{id}/members", () => {
  const members = ({ client }: Account, group: string) => client.get(`/api/users/groups/${group}/members`);

  test("shows who is in a group only to those who share with it, while they do", async () => {
    const [owner, member, other] = [await open().signUp(), await open().signUp({ name: "Mia" }), await open().signUp()];
    const gone = await open().signUp({ name: "Ada Gone" });
    const group = await makeGroup(admin, "Orchestra", [member, gone]);
    for (const account of [owner, member, other, admin]) expectError(await members(account, group), 404, "not_found");
    const share = await shareWithGroup(owner.client, await owner.client.folderId("scores"), group);
    const shown = await members(owner, group);
    expectStatus(shown, 200);
    expect(shown.at("data")).toEqual({
      people: [
        { id: gone.id, name: "Ada Gone" },
        { id: member.id, name: "Mia" },
      ],
      total: 2,
    });
    await open().change(gone.id, { disabled: true });
    expect((await members(owner, group)).at("data")).toEqual({ people: [{ id: member.id, name: "Mia" }], total: 1 });
    // Not to the others of the group, and not as if the group were unknown.
    const [hidden, unknown] = [await members(member, group), await members(member, "grp_00000000000000000000")];
    expect(hidden.at("error.message")).toBe(unknown.at("error.message"));
    expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
    expectError(await members(owner, group), 404, "not_found");
  });

  test("does not exist while showPeople is off", async () => {
    const root = await closed().addUser(["--admin"]);
    const group = await makeGroup(root, "Secret", [await closed().signUp()]);
    await shareWithGroup(root.client, await root.client.folderId("plans"), group);
    const response = await members(root, group);
    expect(response.status).toBe(404);
    expect(response.at("error")).toEqual((await root.client.get("/api/users/groupsX")).at("error"));
  });
});

describe("sharing with several at once", () => {
  test("makes one share for each person, email and group, and says which there were before", async () => {
    const owner = await open().signUp();
    const [ada, bob, cleo] = [await open().signUp({ name: "Ada" }), await open().signUp(), await open().signUp()];
    const group = await makeGroup(admin, "Choir", [cleo]);
    const folder = await owner.client.folderId("songs");
    const path = `/api/files/folders/${folder}/shares`;
    const waiting = freshEmail();
    const made = await owner.client.post(path, { users: [ada.id, bob.email, waiting], groups: [group] });
    expectStatus(made, 201);
    expect(made.list("data.shares")).toHaveLength(4);
    expect(made.at("data.updated")).toEqual([]);
    // Chosen by name: the email stays unknown.
    expect(made.text).not.toContain(ada.email);
    expect(made.list("data.shares")).toContainEqual(
      expect.objectContaining({ user: null, person: { id: ada.id, name: "Ada" } }),
    );
    for (const account of [ada, bob, cleo]) expect(await receivedBy(account)).toHaveLength(1);
    const again = await owner.client.post(path, {
      users: [ada.id, bob.email.toUpperCase()],
      groups: [group],
      permissions: "write",
    });
    expect(again.list("data.updated")).toHaveLength(3);
    expect(again.strings("data.shares", "permissions")).toEqual(["write", "write", "write"]);
    expect((await owner.client.get(path)).list("data.shares")).toHaveLength(4);
    const late = await open().signUp({ email: waiting });
    expect(await receivedBy(late)).toHaveLength(1);
  });

  test("does all or nothing, and never makes a public link", async () => {
    const owner = await open().signUp();
    const guest = await open().signUp();
    const file = await owner.client.storedId("content");
    const path = `/api/files/${file}/shares`;
    const rejected: [Record<string, unknown>, string][] = [
      [{ users: [guest.id, "usr_00000000000000000000"] }, "users"],
      [{ users: [guest.id], groups: ["grp_00000000000000000000"] }, "groups"],
      [{ users: [guest.id, "not an email"] }, "users"],
      [{ users: [guest.id, owner.id] }, "users"],
      [{ users: [guest.id, owner.email] }, "users"],
      [{ users: [], groups: [] }, "users"],
      [{ users: [] }, "users"],
      [{ users: [guest.id], permissions: "upload" }, "permissions"],
      [{ users: [guest.id], password: "secret" }, "password"],
    ];
    for (const [body, field] of rejected) {
      const response = await owner.client.post(path, body);
      expectError(response, 400, "invalid_field", field);
    }
    const many = Array.from({ length: 51 }, () => freshEmail());
    expectError(await owner.client.post(path, { users: many }), 400, "invalid_field");
    expect((await owner.client.get(path)).list("data.shares")).toEqual([]);
    expect(await receivedBy(guest)).toEqual([]);
    expectError(await guest.client.post(path, { users: [owner.id] }), 404, "not_found");
  });

  test("does not show which account has an email", async () => {
    const owner = await open().signUp();
    const guest = await open().signUp();
    const file = await owner.client.storedId("content");
    const path = `/api/files/${file}/shares`;
    expectStatus(await owner.client.post(path, { users: [guest.email] }), 201);
    const byId = await owner.client.post(path, { users: [guest.id] });
    expect(byId.at("data.updated")).toEqual([]);
    expect((await owner.client.get(path)).list("data.shares")).toHaveLength(2);
    const known = await owner.client.post(path, { users: [guest.email] });
    const unknown = await owner.client.post(path, { users: [freshEmail()] });
    expect(Object.keys(Object(known.at("data.shares.0"))).toSorted()).toEqual(
      Object.keys(Object(unknown.at("data.shares.0"))).toSorted(),
    );
    expect(unknown.at("data.shares.0.person")).toBeNull();
  });
});

testAllResponses(open);
