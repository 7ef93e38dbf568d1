// Runs the examples of docs/proxy.md with only their ports and certificates changed.
// Skips proxies that are not installed. `apt install nginx caddy` installs both.
import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { freshEmail, randomContent } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { boundary, formType } from "../support/multipart.ts";
import { repositoryRoot, temporaryDirectory, type TestServer, withServer } from "../support/server.ts";

const fixtures = join(repositoryRoot, "test/fixtures/tls");
const certificate = join(fixtures, "renewed-certificate.pem");
const key = join(fixtures, "renewed-key.pem");
const page = await readFile(join(repositoryRoot, "docs/proxy.md"), "utf8");
const authority = await readFile(certificate, "utf8");
const MIB = 1024 * 1024;
/** Size of the upload. LARDER_TEST_PROXY_MIB=1024 tests a whole gigabyte; the default keeps the test short. */
const uploadMiB = Number(process.env["LARDER_TEST_PROXY_MIB"] ?? "96");
const running: Bun.Subprocess[] = [];

afterAll(() => {
  for (const process of running) process.kill("SIGKILL");
});

/** Finds the example of docs/proxy.md that contains these words. */
function findExample(words: string): string {
  const found = [...page.matchAll(/```\w*\n([\s\S]*?)```/g)].find(([, text = ""]) => text.includes(words));
  if (found?.[1] === undefined) throw new Error(`docs/proxy.md has no example with ${JSON.stringify(words)}`);
  return found[1];
}

/** Finds a port on which nothing listens. */
async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** Runs a proxy until the end of this file. Resolves once it listens. */
async function run(command: string[], port: number, directory: string): Promise<void> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: directory, XDG_DATA_HOME: directory };
  const proxy = Bun.spawn(command, { env, cwd: directory, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  running.push(proxy);
  await eventually(`${command[0] ?? ""} listens`, async () => {
    if (proxy.exitCode !== null)
      throw new Error(`${command.join(" ")} ended:\n${await new Response(proxy.stderr).text()}`);
    return fetch(`https://localhost:${port}/`, { tls: { ca: authority }, redirect: "manual" }).then(
      () => true,
      () => false,
    );
  });
}

/** Starts nginx with the server of docs/proxy.md, changed by `edit` where the example has alternatives. */
async function startNginx(port: number, upstream: string, edit = (text: string) => text): Promise<void> {
  const directory = await temporaryDirectory();
  const server = edit(
    findExample("proxy_request_buffering")
      .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
      .replace("server_name files.example.org;", "server_name localhost;")
      .replace(/# ssl_certificate .*/, `ssl_certificate ${certificate}; ssl_certificate_key ${key};`)
      .replace("http://127.0.0.1:8790", upstream),
  );
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(directory, name)};`)
    .join("\n");
  await writeFile(
    join(directory, "nginx.conf"),
    `${process.getuid?.() === 0 ? "user root;\n" : ""}daemon off;\npid ${join(directory, "pid")};\nerror_log stderr;\n` +
      `events {}\nhttp {\naccess_log off;\n${temporary}\n${server}\n}\n`,
  );
  await run(["nginx", "-p", directory, "-c", join(directory, "nginx.conf"), "-e", "stderr"], port, directory);
}

/** Starts Caddy with the site of docs/proxy.md and a test certificate, so that it fetches none. */
async function startCaddy(port: number, upstream: string): Promise<void> {
  const directory = await temporaryDirectory();
  const site = findExample("reverse_proxy 127.0.0.1:8790")
    .replace("files.example.org {", `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`)
    .replace("127.0.0.1:8790", upstream);
  await writeFile(join(directory, "Caddyfile"), `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  await run(["caddy", "run", "--config", join(directory, "Caddyfile"), "--adapter", "caddyfile"], port, directory);
}

async function request(url: string, options: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...options, redirect: "manual", tls: { ca: authority } });
}

/** The bytes of unfinished uploads on the server's disk. */
function incomingBytes(server: TestServer): number {
  const folder = join(server.dataDir, "blobs/incoming");
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Uses the server through a proxy: signs up, uploads a large file, and downloads it whole and in parts. */
async function useThrough(url: string, server: TestServer): Promise<void> {
  const account = { email: freshEmail(), password: "correct horse battery", name: "Ada", cookie: true };
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(account) };
  expect((await request(`${url}/api/auth/signup`, json)).status).toBe(201);
  const signedIn = await request(`${url}/api/auth/signin`, json);
  expect(signedIn.headers.get("set-cookie")).toContain("Secure");
  const parsed: { token: string } = JSON.parse(await signedIn.text());
  const headers = { authorization: `Bearer ${parsed.token}` };

  const block = randomContent(MIB);
  const hash = createHash("sha256");
  let didArrive = false;
  async function* body() {
    yield Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="isPublic"\r\n\r\ntrue\r\n` +
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n`,
    );
    for (let count = 0; count < uploadMiB; count++) {
      block[0] = count % 256;
      hash.update(block);
      yield Buffer.from(block);
      // The proxy must not buffer the upload, or its own disk would limit the size of files.
      if (count === uploadMiB >> 1) {
        await eventually("the first half of the upload", () => incomingBytes(server) > MIB);
        didArrive = true;
      }
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const upload = await request(`${url}/api/files/upload`, {
    method: "POST",
    headers: { ...headers, "content-type": formType },
    body: body(),
  });
  const created: { data: { id: string } } = JSON.parse(await upload.text());
  expect({ status: upload.status, didArrive }).toEqual({ status: 201, didArrive: true });
  const info = await request(`${url}/api/files/${created.data.id}`, { headers });
  const { data }: { data: { shareLink: string } } = JSON.parse(await info.text());
  expect(data.shareLink).toStartWith(`${url}/`);

  const digest = createHash("sha256");
  const download = await request(`${url}/api/files/${created.data.id}/download`, { headers });
  for await (const bytes of download.body ?? []) digest.update(bytes);
  expect(digest.digest("hex")).toBe(hash.digest("hex"));
  const etag = download.headers.get("etag") ?? "";
  const part = await request(`${url}/api/files/${created.data.id}/download`, {
    headers: { ...headers, range: `bytes=${MIB + 5}-${MIB + 14}` },
  });
  expect(part.status).toBe(206);
  expect(part.headers.get("content-range")).toBe(`bytes ${MIB + 5}-${MIB + 14}/${uploadMiB * MIB}`);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from(block.subarray(5, 15)));
  const same = await request(`${url}/api/files/${created.data.id}/download`, {
    headers: { ...headers, "if-none-match": etag },
  });
  expect(same.status).toBe(304);
  const page = await request(data.shareLink, { headers: { accept: "text/html" } });
  expect(page.status).toBe(200);
}

/** The findings of `larder doctor` about the public address. */
async function doctorOn(server: TestServer, url: string): Promise<{ state: string; text: string }[]> {
  const env = { LARDER_PUBLIC_URL: url, NODE_EXTRA_CA_CERTS: certificate, LARDER_THUMBNAILS_ENABLED: "off" };
  const { stdout, stderr } = await server.larder(["doctor", "--json"], { env });
  if (stdout === "") throw new Error(stderr);
  const parsed: { findings: { about: string; state: string; text: string }[] } = JSON.parse(stdout);
  return parsed.findings.filter(({ about }) => about === "public address");
}

const proxies: [string, (port: number, upstream: string) => Promise<void>][] = [
  ["nginx", async (port, upstream) => startNginx(port, `http://${upstream}`)],
  ["caddy", startCaddy],
];

describe.each(proxies)("behind %s, as docs/proxy.md sets it up", (name, start) => {
  test.skipIf(Bun.which(name) === null)(
    "large files are streamed up and down, and client addresses are right",
    async () => {
      const port = await freePort();
      const url = `https://localhost:${port}`;
      await withServer({ env: { LARDER_PUBLIC_URL: url, LARDER_TRUSTED_PROXIES: "127.0.0.1" } }, async (server) => {
        await start(port, `127.0.0.1:${server.port}`);
        await useThrough(url, server);
        const findings = await doctorOn(server, url);
        expect(findings.filter(({ state }) => state === "wrong")).toEqual([]);
        expect(findings.map(({ text }) => text).join()).toContain("through the proxy at 127.0.0.1");
      });
    },
    180_000,
  );

  test.skipIf(Bun.which(name) === null)(
    "the doctor detects an untrusted proxy and another server",
    async () => {
      const port = await freePort();
      const url = `https://localhost:${port}`;
      await withServer({ env: { LARDER_PUBLIC_URL: url } }, async (server) => {
        await start(port, `127.0.0.1:${server.port}`);
        const untrusted = await doctorOn(server, url);
        expect(untrusted.find(({ state }) => state === "wrong")?.text).toContain("Set trustedProxies to 127.0.0.1");
        await withServer({}, async (other) => {
          const strange = await doctorOn(other, url);
          expect(strange.find(({ state }) => state === "wrong")?.text).toContain(
            "A Larder server with another data directory responds",
          );
        });
      });
    },
    60_000,
  );
});

describe("behind nginx", () => {
  const hasNginx = Bun.which("nginx") !== null;

  // nginx strips "location /files/" if proxy_pass has a path, and keeps it otherwise.
  test.skipIf(!hasNginx).each([
    ["strips", "/"],
    ["keeps", ""],
  ])("that %s the base path, the server works below it", async (_, path) => {
    const port = await freePort();
    const url = `https://localhost:${port}/files`;
    const env = { LARDER_PUBLIC_URL: url, LARDER_BASE_PATH: "/files", LARDER_TRUSTED_PROXIES: "127.0.0.1" };
    await withServer({ env }, async (server) => {
      await startNginx(port, `http://127.0.0.1:${server.port}${path}`, (text) =>
        text.replace("location / {", "location /files/ {"),
      );
      await useThrough(url, server);
    });
  });

  test.skipIf(!hasNginx)("by a Unix socket, no proxy must be listed as trusted", async () => {
    const port = await freePort();
    const url = `https://localhost:${port}`;
    const directory = await temporaryDirectory();
    await mkdir(directory, { recursive: true });
    const socket = join(directory, "larder.sock");
    await withServer({ env: { LARDER_PUBLIC_URL: url, LARDER_SOCKET: socket } }, async (server) => {
      await startNginx(port, `http://unix:${socket}`);
      await useThrough(url, server);
      const findings = await doctorOn(server, url);
      expect(findings.filter(({ state }) => state === "wrong")).toEqual([]);
    });
  });
});
