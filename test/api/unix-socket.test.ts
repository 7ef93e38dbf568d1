// A server behind a Unix socket, for a proxy on the same machine.
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freshEmail } from "../support/client.ts";
import { runLarder, temporaryDirectory, withServer } from "../support/server.ts";

async function request(socket: string, path: string, options: RequestInit = {}): Promise<Response> {
  return fetch(`http://larder.test${path}`, { ...options, unix: socket, redirect: "manual" });
}

async function newSocketPath(): Promise<string> {
  return join(await temporaryDirectory(), "larder.sock");
}

test("the API is served on a socket, for owner and group, and on no port", async () => {
  const socket = await newSocketPath();
  await withServer({ env: { LARDER_SOCKET: socket } }, async (server) => {
    expect(server.url).toBe(`unix:${socket}`);
    expect(statSync(socket).mode & 0o777).toBe(0o660);
    const account = JSON.stringify({ email: freshEmail(), password: "correct horse battery", name: "Ada" });
    const json = { "content-type": "application/json" };
    const made = await request(socket, "/api/auth/signup", { method: "POST", headers: json, body: account });
    expect(made.status).toBe(201);
    expect((await server.larder(["healthcheck", "--socket", socket])).code).toBe(0);
    // A proxy that adds no header would expose the metrics to everyone: over a socket, they require a key.
    expect((await request(socket, "/metrics")).status).toBe(403);
    expect(await server.stop()).toBe(0);
    expect(existsSync(socket)).toBe(false);
    expect((await server.larder(["healthcheck", "--socket", socket])).code).toBe(1);
  });
});

test("every peer is trusted as a proxy: address and scheme are the client's", async () => {
  const socket = await newSocketPath();
  const env = { LARDER_SOCKET: socket, LARDER_RATE_LIMITS: "on", LARDER_SIGNUP: "open" };
  await withServer({ env }, async () => {
    const attempt = async (client: string) => {
      const headers = {
        "content-type": "application/json",
        "x-forwarded-for": client,
        "x-forwarded-proto": "https",
        "x-forwarded-host": "files.example.org",
      };
      const body = JSON.stringify({ email: "nobody@example.org", password: "wrong password", cookie: true });
      return request(socket, "/api/auth/signin", { method: "POST", headers, body });
    };
    let refused = 0;
    for (let count = 0; count < 40 && refused === 0; count++) {
      if ((await attempt("203.0.113.7")).status === 429) refused++;
    }
    expect(refused).toBe(1);
    // Another client has its own limit.
    expect((await attempt("203.0.113.8")).status).toBe(401);
    const page = await request(socket, "/api/files", { headers: { origin: "https://larder.test" } });
    expect(page.status).toBe(401);
  });
});

test("a socket left by a crash is replaced; one in use, or a file, is not", async () => {
  const socket = await newSocketPath();
  await withServer({ env: { LARDER_SOCKET: socket } }, async (server) => {
    await server.kill9();
    expect(existsSync(socket)).toBe(true);
    await server.start();
    expect((await request(socket, "/health/ready")).status).toBe(200);

    const data = await temporaryDirectory();
    const second = await runLarder(["serve", "--data", data, "--socket", socket]);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain("Another program listens");
    expect((await request(socket, "/health/ready")).status).toBe(200);

    const file = join(data, "precious.txt");
    await writeFile(file, "not a socket");
    const third = await runLarder(["serve", "--data", data, "--socket", file]);
    expect(third.code).toBe(2);
    expect(third.stderr).toContain("not a socket");
    expect(await Bun.file(file).text()).toBe("not a socket");
  });
});

test("an invalid socket path is rejected with a reason", async () => {
  const data = await temporaryDirectory();
  const long = join(data, "x".repeat(100));
  await mkdir(long);
  for (const socket of [join(data, "missing", "larder.sock"), join(long, "larder.sock")]) {
    const { code, stderr } = await runLarder(["serve", "--data", data, "--socket", socket]);
    expect(code).toBe(2);
    expect(stderr).toContain(socket);
  }
});
