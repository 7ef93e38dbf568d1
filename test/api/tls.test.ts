// HTTPS by the server itself: contract section 9, issue "Unattended for years", network edge.
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

/** Files of a certificate and its key, in a directory of their own. */
interface Pair {
  certFile: string;
  keyFile: string;
  env: Record<string, string>;
}

/** Puts a pair of the fixtures in place as programs that renew certificates do: written beside, then renamed. */
async function install(name: "" | "renewed-" | "ended-", to: Pick<Pair, "certFile" | "keyFile">): Promise<void> {
  for (const [part, path] of [
    ["key", to.keyFile],
    ["certificate", to.certFile],
  ] as const) {
    await copyFile(join(fixtures, `${name}${part}.pem`), `${path}.new`);
    await rename(`${path}.new`, path);
  }
}

async function makePair(name: "" | "renewed-" | "ended-"): Promise<Pair> {
  const directory = join(await temporaryDirectory(), "tls");
  await mkdir(directory, { recursive: true });
  const pair = { certFile: join(directory, "certificate.pem"), keyFile: join(directory, "key.pem") };
  await install(name, pair);
  return { ...pair, env: { LARDER_TLS_CERT_FILE: pair.certFile, LARDER_TLS_KEY_FILE: pair.keyFile } };
}

/** A request that believes only the certificate in use. */
async function ask(server: TestServer, path: string, options: RequestInit & { ca?: string } = {}): Promise<Response> {
  const { ca = "", ...rest } = options;
  const authority = await readFile(join(fixtures, `${ca}certificate.pem`), "utf8");
  return fetch(server.url + path, { ...rest, redirect: "manual", keepalive: false, tls: { ca: authority } });
}

async function signUp(server: TestServer): Promise<{ token: string; cookie: string }> {
  const account = { email: freshEmail(), password: "correct horse battery", name: "Ada", cookie: true };
  const json = { method: "POST", headers: { "content-type": "application/json" } };
  await ask(server, "/api/auth/signup", { ...json, body: JSON.stringify(account) });
  const response = await ask(server, "/api/auth/signin", { ...json, body: JSON.stringify(account) });
  expect(response.status).toBe(200);
  const body: unknown = await response.json();
  const token: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "token") : undefined;
  if (typeof token !== "string") throw new Error("no token");
  return { token, cookie: response.headers.get("set-cookie") ?? "" };
}

/** A connection by TLS, and who is at the other end. */
function handshake(port: number, version?: SecureVersion): Promise<{ socket: TLSSocket; name: string }> {
  return new Promise((resolve, reject) => {
    const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...versions }, () => {
      resolve({ socket, name: String(socket.getPeerCertificate().subject.CN) });
    });
    socket.on("error", reject);
  });
}

async function nameAt(port: number): Promise<string> {
  const { socket, name } = await handshake(port);
  socket.destroy();
  return name;
}

describe("with a certificate", () => {
  test("everything is served by HTTPS, and browsers are told to stay with it", async () => {
    const { env } = await makePair("");
    await withServer({ env }, async (server) => {
      expect(server.url).toStartWith("https://127.0.0.1:");
      const { token, cookie } = await signUp(server);
      expect(cookie).toContain("Secure");
      const headers = { authorization: `Bearer ${token}` };
      const content = randomContent(3_000_000);
      const body = new FormData();
      body.append("file", new File([content], "a.bin"));
      const upload = await ask(server, "/api/files/upload", { method: "POST", headers, body });
      expect(upload.status).toBe(201);
      expect(upload.headers.get("strict-transport-security")).toBe("max-age=15552000");
      const made: { data: { id: string } } = JSON.parse(await upload.text());
      const download = await ask(server, `/api/files/${made.data.id}/download`, { headers });
      expect(download.headers.get("strict-transport-security")).toBe("max-age=15552000");
      expect(Buffer.from(await download.arrayBuffer()).equals(content)).toBe(true);
      const part = await ask(server, `/api/files/${made.data.id}/download`, {
        headers: { ...headers, range: "bytes=10-19" },
      });
      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from(content.subarray(10, 20)));
      expect((await server.larder(["healthcheck", "--port", String(server.port)])).code).toBe(0);
    });
  });

  test("TLS begins at 1.2, and plain HTTP gets no answer", async () => {
    const { env } = await makePair("");
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
      expect((await ask(server, "/health/ready")).status).toBe(200);
    });
  });

  test("plain HTTP on the redirect port is led to HTTPS", async () => {
    const { env } = await makePair("");
    await withServer({ env: { ...env, LARDER_TLS_REDIRECT_PORT: "0" } }, async (server) => {
      const told = () => /Redirecting HTTP to HTTPS\.\D+(\d+)/.exec(server.log)?.[1];
      await eventually("the port is told", () => told() !== undefined);
      const address = `http://127.0.0.1:${told()}`;
      const led = await fetch(`${address}/s/abc?x=1`, { redirect: "manual" });
      expect(led.status).toBe(308);
      expect(led.headers.get("location")).toBe(`https://127.0.0.1:${server.port}/s/abc?x=1`);
      // What carries a body, or a password, was sent in the clear: better that its sender learns of it.
      const refused = await fetch(`${address}/api/auth/signin`, { method: "POST", body: "{}" });
      expect(refused.status).toBe(403);
    });
  });
});

describe("a renewed certificate", () => {
  test("is taken into use without a restart, and what has begun goes on", async () => {
    const pair = await makePair("");
    await withServer({ env: pair.env }, async (server) => {
      const { token } = await signUp(server);
      expect(await nameAt(server.port)).toBe("For Larder's tests only");
      const { socket } = await handshake(server.port);
      const start = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n01234`;
      const rest = `56789\r\n--${boundary}--\r\n`;
      socket.write(
        `POST /api/files/upload HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: ${formType}\r\nContent-Length: ${start.length + rest.length}\r\n\r\n${start}`,
      );
      // Others come and go meanwhile; none is lost.
      const over = new AbortController();
      const others = Array.from({ length: 3 }, async () => {
        const names: string[] = [];
        while (!over.signal.aborted) names.push(await nameAt(server.port));
        return names;
      });
      await install("renewed-", pair);
      server.signal("SIGHUP");
      await eventually("the new certificate", async () => (await nameAt(server.port)) === "renewed.larder.test");
      await eventually("it is told of", () => server.log.includes("Loaded the new certificate."));
      for (let count = 0; count < 20; count++) expect(await nameAt(server.port)).toBe("renewed.larder.test");
      over.abort();
      expect((await Promise.all(others)).flat().length).toBeGreaterThan(20);
      const responded = new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(bytes.toString())));
      socket.write(rest);
      expect(await responded).toStartWith("HTTP/1.1 201");
      socket.destroy();
      const list = await ask(server, "/api/files", { headers: { authorization: `Bearer ${token}` }, ca: "renewed-" });
      expect(await list.text()).toContain("slow.txt");
      expect(await server.stop()).toBe(0);
    });
  });

  test("that can't be used leaves the old one in use, and is told of", async () => {
    const pair = await makePair("");
    await withServer({ env: pair.env }, async (server) => {
      await copyFile(join(fixtures, "renewed-certificate.pem"), pair.certFile);
      server.signal("SIGHUP");
      await eventually("the refusal", () => server.log.includes("the old one stays in use"));
      expect(await nameAt(server.port)).toBe("For Larder's tests only");
      // The key comes a moment later: together they are used.
      await copyFile(join(fixtures, "renewed-key.pem"), pair.keyFile);
      server.signal("SIGHUP");
      await eventually("the new certificate", async () => (await nameAt(server.port)) === "renewed.larder.test");
    });
  });
});

describe("at the start", () => {
  test("a certificate that has ended is warned of", async () => {
    const { env } = await makePair("ended-");
    await withServer({ env }, async (server) => {
      expect(server.log).toContain("The certificate expired on 2020-02-01");
      expect(await nameAt(server.port)).toBe("ended.larder.test");
    });
  });

  test("files that don't go together, or aren't there, are refused by name", async () => {
    const pair = await makePair("");
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

  test("a port that somebody listens on is refused, by HTTPS too", async () => {
    // Shared ports are how a certificate is renewed: two servers must not come to share one by chance.
    const { env } = await makePair("");
    await withServer({ env }, async (server) => {
      const data = await temporaryDirectory();
      const args = ["serve", "--data", data, "--port", String(server.port)];
      const { code, stderr } = await runLarder(args, { env });
      expect(code).toBe(2);
      expect(stderr).toContain("Another program listens");
    });
  });
});
