import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { RawConnection, sendHalfUpload } from "../support/raw-http.ts";
import { runLarder, withServer } from "../support/server.ts";

/** Whether nothing listens on the port. */
async function isClosed(port: number): Promise<boolean> {
  return RawConnection.open(port).then(
    (connection) => {
      connection.cut();
      return false;
    },
    () => true,
  );
}

test("SIGTERM finishes a running upload, rejects new connections, and exits with 0", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client, token } = await server.signUp();
    const { connection, rest } = await sendHalfUpload(server.port, token);
    // The server must have accepted the request before it stops: later ones are rejected.
    await client.get("/api/auth/session");
    server.signal("SIGTERM");
    await eventually("the port is closed", async () => isClosed(server.port));
    await connection.write(rest);
    const response = await connection.response();
    expectStatus(response, 201);
    expect(await server.exited()).toBe(0);
    connection.cut();
    await server.restart();
    expect((await client.get(`/api/files/${response.string("data.id")}/download`)).text).toBe("0123456789");
  });
});

test("during the shutdown, the rejection of an open request has all headers of a response", async () => {
  // The 503 was thrown before the requests were counted, and had no rate-limit headers.
  await withServer({ hasAccounts: true }, async (server) => {
    const { client, token } = await server.signUp();
    const head = `GET /api/auth/session HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    // Idle connections are closed immediately; this one has begun a request.
    const begun = await RawConnection.open(server.port);
    await begun.write(head.slice(0, 60));
    const { connection, rest } = await sendHalfUpload(server.port, token);
    await client.get("/api/auth/session");
    server.signal("SIGTERM");
    await eventually("the port is closed", async () => isClosed(server.port));
    await begun.write(head.slice(60));
    const rejected = await begun.response();
    expectError(rejected, 503, "shutting_down");
    expect(rejected.number("error.details.retryAfter")).toBeGreaterThan(0);
    expect(rejected.headers.has("retry-after")).toBe(false);
    for (const name of ["limit", "remaining", "reset", "window", "resource"])
      expect(rejected.header(`x-ratelimit-${name}`)).not.toBe("");
    expect(rejected.header("x-request-id")).not.toBe("");
    await connection.write(rest);
    expectStatus(await connection.response(), 201);
    expect(await server.exited()).toBe(0);
    begun.cut();
    connection.cut();
  });
});

test("SIGTERM with idle connections exits immediately", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const idle = await Promise.all(Array.from({ length: 5 }, () => RawConnection.open(server.port)));
    for (const connection of idle) {
      await connection.write("GET /health/live HTTP/1.1\r\nHost: larder.test\r\n\r\n");
      expectStatus(await connection.response(), 200);
    }
    expect(await server.stop()).toBe(0);
    for (const connection of idle) connection.cut();
  });
});

test("the database is closed properly although a thread has just read it", async () => {
  // The thread still had its connection, so the log stayed, and the next start took the stop for a crash.
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    await client.stored("x");
    expectStatus(await client.get("/api/shares?sort=natural"), 200);
    expect(await server.stop()).toBe(0);
    expect(existsSync(join(server.dataDir, "larder.db-wal"))).toBe(false);
    expect(await Bun.file(join(server.dataDir, "larder.state")).json()).toMatchObject({ state: "closed" });
  });
});

test("a second SIGTERM changes nothing", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    await client.stored("x");
    server.signal("SIGTERM");
    server.signal("SIGTERM");
    await server.exited();
    await server.restart();
    expect(await client.names()).toEqual(["file.txt"]);
  });
});

test("a second server on the same data directory is rejected, and the first keeps running", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const link = `${server.dataDir}-link`;
    await symlink(server.dataDir, link);
    try {
      for (const path of [server.dataDir, link]) {
        const { code, stderr, stdout } = await runLarder(["serve", "--data", path, "--port", "0"]);
        expect(code).toBe(2);
        expect(stderr).toContain(server.dataDir);
        expect(stdout).not.toContain("listening on");
      }
    } finally {
      await unlink(link);
    }
    await client.stored("still served");
    expect(await client.names()).toEqual(["file.txt"]);
    // A crash leaves no lock that blocks the next start.
    await server.kill9();
    await server.start();
    expect(await client.names()).toEqual(["file.txt"]);
  });
});
