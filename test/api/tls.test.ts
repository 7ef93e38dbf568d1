// HTTPS served directly by Larder, without a proxy.
import { describe, expect, test } from "bun:test";
import { copyFile, mkdir, readFile, rename } from "node:fs/promises";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { randomContent, freshEmail } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { boundary, formType } from "../support/multipart.ts";
import { repositoryRoot, runLarder, temporaryDirectory, type TestServer, withServer } from "../support/server.ts";

const fixtures = join(repositoryRoot, "test/fixtures/tls");

/** A certificate and its key, in their own directory. */
interface Pair {
  certFile: string;
  keyFile: string;
  env: Record<string, string>;
}

/** Installs fixture files as certificate clients do: write to a temporary name, then rename. */
async function install(name: "" | "renewed-" | "ended-", to: Pick<Pair, "certFile" | "keyFile">): Promise<void> {
  for (const [part, path] of [
    ["key", to.keyFile],
    ["certificate", to.certFile],
  ] as const) {
    await copyFile(join(fixtures, `${name}${part}.pem`), `${path}.new`);
    await rename(`${path}.new`, path);
  }
}

async function createPair(name: "" | "renewed-" | "ended-"): Promise<Pair> {
  const directory = join(await temporaryDirectory(), "tls");
  await mkdir(directory, { recursive: true });
  const pair = { certFile: join(directory, "certificate.pem"), keyFile: join(directory, "key.pem") };
  await install(name, pair);
  return { ...pair, env: { LARDER_TLS_CERT_FILE: pair.certFile, LARDER_TLS_KEY_FILE: pair.keyFile } };
}

/** Sends a request that trusts only the certificate in use. */
async function request(
  server: TestServer,
  path: string,
  options: RequestInit & { ca?: string } = {},
): Promise<Response> {
  const { ca = "", ...rest } = options;
  const authority = await readFile(join(fixtures, `${ca}certificate.pem`), "utf8");
  return fetch(server.url + path, { ...rest, redirect: "manual", keepalive: false, tls: { ca: authority } });
}

async function signUp(server: TestServer): Promise<{ token: string; cookie: string }> {
  const account = { email: freshEmail(), password: "correct horse battery", name: "Ada", cookie: true };
  const json = { method: "POST", headers: { "content-type": "application/json" } };
  await request(server, "/api/auth/signup", { ...json, body: JSON.stringify(account) });
  const response = await request(server, "/api/auth/signin", { ...json, body: JSON.stringify(account) });
  expect(response.status).toBe(200);
  const body: unknown = await response.json();
  const token: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "token") : undefined;
  if (typeof token !== "string") throw new Error("no token");
  return { token, cookie: response.headers.get("set-cookie") ?? "" };
}

/** Opens a TLS connection, and returns it with the server's name. */
function handshake(port: number, version?: SecureVersion): Promise<{ socket: TLSSocket; name: string }> {
  return new Promise((resolve, reject) => {
    const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...versions }, () => {
      resolve({ socket, name: String(socket.getPeerCertificate().subject.CN) });
    });
    socket.on("error", reject);
  });
}

async function readServerName(port: number): Promise<string> {
  const { socket, name } = await handshake(port);
  socket.destroy();
  return name;
}

describe("with a certificate", () => {
  test("everything is served over HTTPS, with HSTS", async () => {
    const { env } = await createPair("");
    await withServer({ env }, async (server) => {
      expect(server.url).toStartWith("https://127.0.0.1:");
      const { token, cookie } = await signUp(server);
      expect(cookie).toContain("Secure");
      const headers = { authorization: `Bearer ${token}` };
      const content = randomContent(3_000_000);
      const body = new FormData();
      body.append("file", new File([content], "a.bin"));
      const upload = await request(server, "/api/files/upload", { method: "POST", headers, body });
      expect(upload.status).toBe(201);
      expect(upload.headers.get("strict-transport-security")).toBe("max-age=15552000");
      const made: { data: { id: string } } = JSON.parse(await upload.text());
      const download = await request(server, `/api/files/${made.data.id}/download`, { headers });
      expect(download.headers.get("strict-transport-security")).toBe("max-age=15552000");
      expect(Buffer.from(await download.arrayBuffer()).equals(content)).toBe(true);
      const part = await request(server, `/api/files/${made.data.id}/download`, {
        headers: { ...headers, range: "bytes=10-19" },
      });
      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from(content.subarray(10, 20)));
      expect((await server.larder(["healthcheck", "--port", String(server.port)])).code).toBe(0);
    });
  });

  test("TLS 1.2 is the minimum, and plain HTTP gets no response", async () => {
    const { env } = await createPair("");
    await withServer({ env }, async (server) => {
      for (const version of ["TLSv1", "TLSv1.1"] as const) {
        const refused = await handshake(server.port, version).then(
          ({ socket }) => socket.destroy() && false,
          () => true,
        );
        expect({ version, refused }).toEqual({ version, refused: true });
      }
      for (const version of ["TLSv1.2", "TLSv1.3"] as const) (await handshake(server.port, version)).socket.destroy();
      const received = await new Promise<string>((resolve) => {
        let text = "";
        const plain = connectPlain(server.port, "127.0.0.1", () => plain.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        plain.on("data", (bytes) => (text += bytes.toString()));
        plain.on("error", () => resolve(text));
        plain.on("close", () => resolve(text));
      });
      expect(received).not.toContain("200");
      expect((await request(server, "/health/ready")).status).toBe(200);
    });
  });

  test("the redirect port redirects plain HTTP to HTTPS", async () => {
    const { env } = await createPair("");
    await withServer({ env: { ...env, LARDER_TLS_REDIRECT_PORT: "0" } }, async (server) => {
      const loggedPort = () => /Redirecting HTTP to HTTPS\.\D+(\d+)/.exec(server.log)?.[1];
      await eventually("the port is logged", () => loggedPort() !== undefined);
      const address = `http://127.0.0.1:${loggedPort()}`;
      const led = await fetch(`${address}/s/abc?x=1`, { redirect: "manual" });
      expect(led.status).toBe(308);
      expect(led.headers.get("location")).toBe(`https://127.0.0.1:${server.port}/s/abc?x=1`);
      // A request with a body or a password was already sent in the clear; a rejection makes that visible.
      const refused = await fetch(`${address}/api/auth/signin`, { method: "POST", body: "{}" });
      expect(refused.status).toBe(403);
    });
  });
});

describe("a renewed certificate", () => {
  test("is loaded without a restart, and open connections continue", async () => {
    const pair = await createPair("");
    await withServer({ env: pair.env }, async (server) => {
      const { token } = await signUp(server);
      expect(await readServerName(server.port)).toBe("For Larder's tests only");
      const { socket } = await handshake(server.port);
      const start = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n01234`;
      const rest = `56789\r\n--${boundary}--\r\n`;
      socket.write(
        `POST /api/files/upload HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: ${formType}\r\nContent-Length: ${start.length + rest.length}\r\n\r\n${start}`,
      );
      // Other clients keep connecting; none of them fails.
      const over = new AbortController();
      const others = Array.from({ length: 3 }, async () => {
        const names: string[] = [];
        while (!over.signal.aborted) names.push(await readServerName(server.port));
        return names;
      });
      await install("renewed-", pair);
      server.signal("SIGHUP");
      await eventually(
        "the new certificate",
        async () => (await readServerName(server.port)) === "renewed.larder.test",
      );
      await eventually("it is logged", () => server.log.includes("Loaded the new certificate."));
      for (let count = 0; count < 20; count++) expect(await readServerName(server.port)).toBe("renewed.larder.test");
      over.abort();
      expect((await Promise.all(others)).flat().length).toBeGreaterThan(20);
      const responded = new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(bytes.toString())));
      socket.write(rest);
      expect(await responded).toStartWith("HTTP/1.1 201");
      socket.destroy();
      const list = await request(server, "/api/files", {
        headers: { authorization: `Bearer ${token}` },
        ca: "renewed-",
      });
      expect(await list.text()).toContain("slow.txt");
      expect(await server.stop()).toBe(0);
    });
  });

  test("leaves the old one in use if it is invalid, and logs the error", async () => {
    const pair = await createPair("");
    await withServer({ env: pair.env }, async (server) => {
      await copyFile(join(fixtures, "renewed-certificate.pem"), pair.certFile);
      server.signal("SIGHUP");
      await eventually("the error", () => server.log.includes("the old one stays in use"));
      expect(await readServerName(server.port)).toBe("For Larder's tests only");
      // The key is written a moment later; with it, the certificate is valid.
      await copyFile(join(fixtures, "renewed-key.pem"), pair.keyFile);
      server.signal("SIGHUP");
      await eventually(
        "the new certificate",
        async () => (await readServerName(server.port)) === "renewed.larder.test",
      );
    });
  });
});

describe("at startup", () => {
  test("an expired certificate is logged as a warning", async () => {
    const { env } = await createPair("ended-");
    await withServer({ env }, async (server) => {
      expect(server.log).toContain("The certificate expired on 2020-02-01");
      expect(await readServerName(server.port)).toBe("ended.larder.test");
    });
  });

  test("mismatched and missing files are rejected by name", async () => {
    const pair = await createPair("");
    const data = await temporaryDirectory();
    const rejections: [Record<string, string>, string][] = [
      [{ LARDER_TLS_CERT_FILE: pair.certFile }, "must be set together"],
      [{ ...pair.env, LARDER_TLS_KEY_FILE: join(fixtures, "renewed-key.pem") }, "does not match"],
      [{ ...pair.env, LARDER_TLS_KEY_FILE: "/nonexistent/key.pem" }, "/nonexistent/key.pem"],
      [{ ...pair.env, LARDER_TLS_CERT_FILE: pair.keyFile }, "does not contain a certificate"],
      [{ ...pair.env, LARDER_TLS_KEY_FILE: pair.certFile }, "does not contain a usable key"],
      [{ LARDER_TLS_REDIRECT_PORT: "8080" }, "requires HTTPS"],
      [{ ...pair.env, LARDER_SOCKET: join(data, "larder.sock") }, "cannot be combined"],
    ];
    for (const [env, words] of rejections) {
      const { code, stderr } = await runLarder(["serve", "--data", data, "--port", "0"], { env });
      expect({ words, code, stderr }).toEqual({ words, code: 2, stderr: expect.stringContaining(words) });
    }
  });

  test("a port that another server listens on is rejected, also with HTTPS", async () => {
    // Renewal uses shared ports (SO_REUSEPORT), so that two servers could share one by accident.
    const { env } = await createPair("");
    await withServer({ env }, async (server) => {
      const data = await temporaryDirectory();
      const args = ["serve", "--data", data, "--port", String(server.port)];
      const { code, stderr } = await runLarder(args, { env });
      expect(code).toBe(2);
      expect(stderr).toContain("Another program listens");
    });
  });
});
