import { describe, expect, test } from "bun:test";
import { Client } from "../support/client.ts";
import { expectRefusal, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllAnswers } from "../support/laws.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer();
const password = "correct horse battery";

/** Another sign-in of the same account. */
async function signInAgain(email: string): Promise<Client> {
  const answer = await server().visitor.post("/api/auth/signin", { email, password });
  return new Client(server(), answer.string("token"));
}

describe("GET /api/users/sessions", () => {
  test("lists the live sessions of the user alone", async () => {
    const { client, email } = await server().signUp();
    await server().signUp();
    const second = await signInAgain(email);
    const ids = [(await client.get("/api/auth/session")).string("session.id")];
    ids.push((await second.get("/api/auth/session")).string("session.id"));
    const answer = await client.get("/api/users/sessions");
    expectStatus(answer, 200);
    expect(answer.strings("data.sessions", "id").sort()).toEqual([...ids].sort());
    for (const key of ["createdAt", "expiresAt"])
      for (const time of answer.strings("data.sessions", key)) expect(time).toMatch(timestampPattern);
  });

  test("shows no token and no hash", async () => {
    const { client, token } = await server().signUp();
    const answer = await client.get("/api/users/sessions");
    expect(answer.text).not.toContain(token);
    expect(answer.text).not.toContain(token.split(".")[2] ?? token);
    expect(answer.text.toLowerCase()).not.toContain("hash");
  });

  test("leaves out what has ended", async () => {
    const { client, email } = await server().signUp();
    const second = await signInAgain(email);
    await second.post("/api/auth/signout");
    expect((await client.get("/api/users/sessions")).list("data.sessions")).toHaveLength(1);
  });
});

describe("DELETE /api/users/sessions/{id}", () => {
  test("ends that session at once (D57)", async () => {
    const { client, email } = await server().signUp();
    const second = await signInAgain(email);
    const id = (await second.get("/api/auth/session")).string("session.id");
    expectStatus(await client.delete(`/api/users/sessions/${id}`), 200);
    expectRefusal(await second.get("/api/auth/session"), 401, "revoked_token");
    expectStatus(await client.get("/api/auth/session"), 200);
    expectRefusal(await client.delete(`/api/users/sessions/${id}`), 404);
  });

  test("may end the session it comes by", async () => {
    const { client } = await server().signUp();
    const id = (await client.get("/api/auth/session")).string("session.id");
    expectStatus(await client.delete(`/api/users/sessions/${id}`), 200);
    expectRefusal(await client.get("/api/auth/session"), 401, "revoked_token");
  });

  test("knows nothing of another user's sessions", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const id = (await b.client.get("/api/auth/session")).string("session.id");
    expectRefusal(await a.client.delete(`/api/users/sessions/${id}`), 404);
    expectRefusal(await a.client.delete("/api/users/sessions/nothing"), 404);
    expectStatus(await b.client.get("/api/auth/session"), 200);
  });
});

testAllAnswers(server);
