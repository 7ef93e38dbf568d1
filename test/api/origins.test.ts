import { describe, expect, test } from "bun:test";
import { freshEmail } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const trustingServer = sharedServer({ hasAccounts: true, env: { LARDER_TRUSTED_PROXIES: "127.0.0.1/32" } });
const password = "correct horse battery";

describe("CORS", () => {
  test("sends no header if no origin is configured", async () => {
    const { client } = await server().signUp();
    const headers = { origin: "https://app.example.com" };
    const responses = [
      await client.get("/api/files", headers),
      await client.request("OPTIONS", "/api/files", {
        headers: { ...headers, "access-control-request-method": "GET" },
      }),
      await server().visitor.get("/openapi.json", headers),
    ];
    for (const response of responses)
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test("allows a configured origin, without credentials, and no other", async () => {
    await withServer({ env: { LARDER_CORS_ORIGINS: "https://app.example.com" } }, async (own) => {
      const { client } = await own.signUp();
      const allowed = await client.get("/api/files", { origin: "https://app.example.com" });
      expectStatus(allowed, 200);
      expect(allowed.header("access-control-allow-origin")).toBe("https://app.example.com");
      expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
      expect(allowed.header("vary").toLowerCase()).toContain("origin");
      const refused = await own.visitor.get("/api/files", { origin: "https://app.example.com" });
      expect(refused.header("access-control-allow-origin")).toBe("https://app.example.com");
      const preflight = await own.visitor.request("OPTIONS", "/api/files/upload", {
        headers: {
          origin: "https://app.example.com",
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,content-type",
        },
      });
      expect([200, 204]).toContain(preflight.status);
      expect(preflight.header("access-control-allow-origin")).toBe("https://app.example.com");
      expect(preflight.header("access-control-allow-methods")).toContain("POST");
      expect(preflight.header("access-control-allow-headers").toLowerCase()).toContain("authorization");
      for (const origin of [
        "https://evil.example",
        "http://app.example.com",
        "https://app.example.com.evil.example",
        "null",
      ]) {
        const response = await client.get("/api/files", { origin });
        expect({ origin, allow: response.headers.get("access-control-allow-origin") }).toEqual({ origin, allow: null });
      }
    });
  });
});

test("preflight requests count in no limit", async () => {
  // Every request with a token is preflighted. When they counted, the 51st in an hour got 429 and the page stopped working.
  const origin = "https://app.example.com";
  const env = { LARDER_CORS_ORIGINS: origin, LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "free" };
  await withServer({ env }, async (own) => {
    const { client } = await own.signUp();
    const id = await client.storedId("x");
    const headers = {
      origin,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "authorization,content-type",
    };
    const statuses = new Set<number>();
    for (let index = 0; index < 60; index++)
      statuses.add((await own.visitor.request("OPTIONS", `/api/files/${id}`, { headers })).status);
    expect([...statuses]).toEqual([204]);
    const changed = await client.put(`/api/files/${id}`, { name: "renamed" }, { origin });
    expectStatus(changed, 200);
    expect(changed.header("x-ratelimit-remaining")).toBe("49");
    const nobody = await own.visitor.put(`/api/files/${id}`, { name: "renamed" }, { origin });
    expectStatus(nobody, 401);
    expect(nobody.header("x-ratelimit-remaining")).toBe("49");
  });
});

describe("forwarding headers", () => {
  /** Signs up until rejected, each time as if from the given address; free allows three an hour per address. */
  const limited = { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "free" };

  test("are ignored if the peer is no trusted proxy, with one warning in the log", async () => {
    await withServer({ env: limited }, async (own) => {
      const statuses: number[] = [];
      for (let index = 0; index < 5; index++) {
        const headers = { "x-forwarded-for": `198.51.100.${index}`, forwarded: `for=198.51.100.${index}` };
        const body = { email: freshEmail(), password };
        statuses.push((await own.visitor.post("/api/auth/signup", body, headers)).status);
      }
      expect(statuses).toEqual([201, 201, 201, 429, 429]);
      const warnings = own.log.split("\n").filter((line) => /trustedProxies|TRUSTED_PROXIES/.test(line));
      expect(warnings).toHaveLength(1);
    });
  });

  test("from a trusted proxy give the right-most untrusted address", async () => {
    const env = { ...limited, LARDER_TRUSTED_PROXIES: "127.0.0.0/8,10.0.0.0/8" };
    await withServer({ env }, async (own) => {
      const from = async (headers: Record<string, string>) =>
        (await own.visitor.post("/api/auth/signup", { email: freshEmail(), password }, headers)).status;
      const rows: [Record<string, string>, number[]][] = [
        [{ "x-forwarded-for": "198.51.100.1" }, [201, 201, 201, 429]],
        [{ "x-forwarded-for": "198.51.100.2" }, [201]],
        [{ "x-forwarded-for": "198.51.100.9, 198.51.100.1" }, [429]],
        [{ "x-forwarded-for": "198.51.100.1, 198.51.100.3" }, [201, 201, 201, 429]],
        [{ "x-forwarded-for": "198.51.100.3, 10.1.2.3" }, [429]],
        [{ "x-forwarded-for": "198.51.100.4:51234" }, [201, 201, 201]],
        [{ "x-forwarded-for": "198.51.100.4" }, [429]],
        [{ forwarded: 'for=198.51.100.5;proto=https, for="10.0.0.7"' }, [201, 201, 201, 429]],
        [{ "x-forwarded-for": "2001:db8:1:2::1" }, [201, 201, 201]],
        [{ "x-forwarded-for": "2001:db8:1:2:ffff::2" }, [429]],
        [{ forwarded: 'for="[2001:db8:1:2::3]:4711"' }, [429]],
        [{ "x-forwarded-for": "2001:db8:1:3::1" }, [201]],
        [{ "x-forwarded-for": "::ffff:198.51.100.1" }, [429]],
      ];
      for (const [headers, expected] of rows) {
        const statuses: number[] = [];
        for (let index = 0; index < expected.length; index++) statuses.push(await from(headers));
        expect({ headers, statuses }).toEqual({ headers, statuses: expected });
      }
    });
  });

  test.each(["nonsense", "", ",,,", "999.1.1.1", "unknown", "_hidden", "'--", "x".repeat(4000)])(
    "with %p never fail a request",
    async (value) => {
      for (const headers of [{ "x-forwarded-for": value }, { forwarded: `for=${value}` }]) {
        const response = await trustingServer().visitor.post(
          "/api/auth/signin",
          { email: freshEmail(), password },
          headers,
        );
        expectStatus(response, 401);
      }
    },
  );
});

describe("a request id from a trusted proxy", () => {
  test("is kept if well-formed, and replaced otherwise", async () => {
    const response = await trustingServer().visitor.get("/api/files", { "x-request-id": "proxy-1234.abcd_EF" });
    expect(response.header("x-request-id")).toBe("proxy-1234.abcd_EF");
    for (const id of ["with space", "x".repeat(5000), "<script>", "a\u00ffb"]) {
      const replaced = await trustingServer().visitor.get("/api/files", { "x-request-id": id });
      expect(replaced.header("x-request-id")).not.toBe(id);
    }
  });
});
