// `larder doctor` at the public address. test/proxies tests it through real proxies.
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { untilFound } from "../support/text-search.ts";
import { repositoryRoot, type TestServer, withServer } from "../support/server.ts";

const fixtures = join(repositoryRoot, "test/fixtures/tls");
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Finding {
  about: string;
  state: string;
  text: string;
}

async function findings(
  server: TestServer,
  publicUrl: string,
  about = "public address",
  more: Record<string, string> = {},
): Promise<Finding[]> {
  const env = { LARDER_PUBLIC_URL: publicUrl, LARDER_THUMBNAILS_ENABLED: "off", ...more };
  const { stdout, stderr } = await server.larder(["doctor", "--json"], { env });
  if (stdout === "") throw new Error(stderr);
  const report: { findings: Finding[] } = JSON.parse(stdout);
  return report.findings.filter((finding) => finding.about === about);
}

/** Another web server. @returns its address */
function stranger(response: (url: URL) => Response): string {
  const strange = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => response(new URL(request.url)) });
  closing.push(() => strange.stop(true));
  return `http://127.0.0.1:${strange.port}`;
}

test("says how large the index for searching in contents is, and that it is deleted if that is off", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    await client.stored("text with gargoylefish", { name: "a.txt" });
    await untilFound(client, "gargoylefish");
    await server.stop();
    const about = "search in contents";
    expect(await findings(server, server.url, about)).toEqual([
      { about, state: "ok", text: expect.stringMatching(/^the index takes \d/) },
    ]);
    expect(await findings(server, server.url, about, { LARDER_SEARCH_CONTENT: "off" })).toEqual([
      { about, state: "ok", text: expect.stringContaining("the next start deletes the index") },
    ]);
  });
});

describe("at the public address", () => {
  test("this server is recognized", async () => {
    await withServer({}, async (server) => {
      const [finding, ...more] = await findings(server, server.url);
      expect(more).toEqual([]);
      expect(finding).toMatchObject({ state: "ok", text: expect.stringContaining("This server responds") });
    });
  });

  test("another service, another Larder server, and a redirect loop are distinguished", async () => {
    await withServer({}, async (server) => {
      const strange: [string, string][] = [
        [stranger(() => new Response("It works!")), "(status 200). Check the target of the proxy"],
        [stranger(() => new Response("no", { status: 502 })), "(status 502). Check the target of the proxy"],
        [stranger(() => Response.json({ status: "live" })), "A Larder server with another data directory responds"],
        [stranger(({ href }) => Response.redirect(href, 301)), "Redirect loop: "],
        [stranger(() => new Response(null, { status: 302, headers: { location: "ftp://a/" } })), "not a web address"],
      ];
      for (const [url, words] of strange) {
        expect(await findings(server, url)).toEqual([
          { about: "public address", state: "wrong", text: expect.stringContaining(words) },
        ]);
      }
    });
  });

  test("a redirect is followed and reported", async () => {
    await withServer({}, async (server) => {
      const url = stranger(({ pathname }) => Response.redirect(server.url + pathname, 308));
      const seen = await findings(server, url);
      expect(seen.map(({ state }) => state)).not.toContain("wrong");
      expect(seen[0]).toMatchObject({
        state: "note",
        text: expect.stringContaining("Set publicUrl to the last address"),
      });
    });
  });

  test("no response is a note, because many home routers block their public address from inside", async () => {
    await withServer({}, async (server) => {
      const [finding] = await findings(server, "http://127.0.0.1:1");
      expect(finding).toMatchObject({ state: "note", text: expect.stringContaining("Cannot reach") });
    });
  });

  test("a certificate that clients reject is wrong", async () => {
    const env = {
      LARDER_TLS_CERT_FILE: join(fixtures, "ended-certificate.pem"),
      LARDER_TLS_KEY_FILE: join(fixtures, "ended-key.pem"),
    };
    await withServer({ env }, async (server) => {
      const [finding] = await findings(server, server.url);
      expect(finding).toMatchObject({ state: "wrong", text: expect.stringContaining("2020-02-01") });
      const [own] = (await findings(server, server.url, "certificate")).filter(({ state }) => state === "note");
      expect(own?.text).toContain("expired on 2020-02-01");
    });
  });

  test("no request is sent if no server is running", async () => {
    await withServer({}, async (server) => {
      await server.stop();
      const [finding] = await findings(server, "http://127.0.0.1:1");
      expect(finding).toMatchObject({ state: "note", text: expect.stringContaining("was not checked") });
    });
  });
});

test("only the doctor learns how a request reached the server", async () => {
  await withServer({}, async (server) => {
    for (const pass of ["", "1.x", `${Date.now()}.${"A".repeat(43)}`]) {
      const response = await server.visitor.request("GET", "/health/live", { headers: { "x-larder-doctor": pass } });
      expect(response.json).toEqual({ status: "live" });
    }
  });
});
