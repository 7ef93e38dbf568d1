import { describe, expect, test } from "bun:test";
import { expectStatus } from "../support/expect.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

describe("/health", () => {
  test("live and ready respond with 200 without authentication", async () => {
    for (const path of ["/health/live", "/health/ready"]) expectStatus(await server().visitor.get(path), 200);
    expectStatus(await server().visitor.head("/health/live"), 200);
  });
});

describe("/metrics", () => {
  test("returns Prometheus text to a loopback peer", async () => {
    const response = await server().visitor.get("/metrics");
    expectStatus(response, 200);
    expect(response.header("content-type")).toStartWith("text/plain");
    expect(response.text).toMatch(/^# (HELP|TYPE) \w+/m);
    for (const line of response.text.split("\n"))
      if (line !== "" && !line.startsWith("#")) expect(line).toMatch(/^[a-zA-Z_:][\w:]*(\{.*\})? [-+\w.]+( \d+)?$/);
  });

  test("counts every error response once, from any part of the server", async () => {
    const failures = async () => {
      const { text } = await server().visitor.get("/metrics");
      return Number(/^larder_request_failures_total (\d+)$/m.exec(text)?.[1]);
    };
    const before = await failures();
    expectStatus(await server().visitor.get("/api/files"), 401);
    expectStatus(await server().visitor.get("/nowhere"), 404);
    expectStatus(await server().visitor.post("/api/auth/signin", { email: 1 }), 400);
    expect(await failures()).toBe(before + 3);
    expectStatus(await server().visitor.get("/health/live"), 200);
    expect(await failures()).toBe(before + 3);
  });

  test("rejects requests that come through a proxy", async () => {
    for (const headers of [
      { "x-forwarded-for": "198.51.100.1" },
      { forwarded: "for=198.51.100.1" },
      { "x-forwarded-for": "127.0.0.1" },
    ]) {
      const response = await server().visitor.get("/metrics", headers);
      expect([401, 403, 404]).toContain(response.status);
      expect(response.text).not.toContain("# TYPE");
    }
  });

  test("rejects a loopback peer that names another host, as a DNS rebinding page does", async () => {
    const getAs = (host: string) =>
      sendRaw(server().port, rawRequest([`GET /metrics HTTP/1.1`, `Host: ${host}`, "Connection: close"]));
    for (const host of ["evil.example", `evil.example:${server().port}`, "localhost.evil.example"]) {
      const response = await getAs(host);
      expect([host, response?.status]).toEqual([host, 403]);
      expect(response?.text).not.toContain("# TYPE");
    }
    for (const host of ["localhost", `127.0.0.1:${server().port}`, "[::1]:1"]) {
      expect([host, (await getAs(host))?.status]).toEqual([host, 200]);
    }
  });

  test("contains no user, file or token", async () => {
    const { client, email, id } = await server().signUp();
    const file = await client.storedId("x", { name: "metric-name.txt" });
    const { text } = await server().visitor.get("/metrics");
    for (const secret of [email, id, file, "metric-name"]) expect(text).not.toContain(secret);
  });
});

describe("an unknown page", () => {
  test("has the headers of every page", async () => {
    const response = await server().visitor.get("/nowhere", { accept: "text/html" });
    expectStatus(response, 404);
    expect(response.header("content-type")).toBe("text/html; charset=utf-8");
    expect(response.header("content-security-policy")).toContain("default-src 'none'");
    expect(response.header("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(response.header("referrer-policy")).toBe("no-referrer");
    expect(response.header("x-content-type-options")).toBe("nosniff");
    expect(response.header("cache-control")).toBe("no-store");
  });
});

describe("/docs", () => {
  test("works offline: the page and everything it loads come from this server", async () => {
    const page = await server().visitor.get("/docs");
    const response =
      page.status >= 300 && page.status < 400 ? await server().visitor.get(page.header("location")) : page;
    expectStatus(response, 200);
    expect(response.header("content-type")).toStartWith("text/html");
    const links = [...response.text.matchAll(/(?:src|href)="([^"#]+)"/g)].map((match) => match[1] ?? "");
    for (const link of links) {
      if (link.startsWith("data:")) continue;
      const url = new URL(link, `${server().url}/docs`);
      expect({ link, origin: url.origin }).toEqual({ link, origin: server().url });
      expect({ link, status: (await server().visitor.get(url.pathname + url.search)).status }).toEqual({
        link,
        status: 200,
      });
    }
    expect(links.length).toBeGreaterThan(0);
  });
});

describe("a base path", () => {
  test("works if the proxy strips it, and if it doesn't", async () => {
    await withServer({ args: ["--base-path", "/larder"] }, async (own) => {
      const { client } = await own.signUp();
      const id = await client.storedId("x", { fields: { isPublic: "true" } });
      for (const prefix of ["", "/larder"]) {
        expectStatus(await client.get(`${prefix}/api/files`), 200);
        expectStatus(await own.visitor.get(`${prefix}/health/live`), 200);
        expect((await client.get(`${prefix}/api/files/${id}/download`)).text).toBe("x");
      }
      const info = await client.get(`/api/files/${id}`);
      expect(new URL(info.string("data.url")).pathname).toBe(`/larder/api/files/${id}/download`);
      expect(new URL(info.string("data.shareLink")).pathname).toStartWith("/larder/s/");
    });
  });

  test("of the public address is in every link", async () => {
    await withServer({ env: { LARDER_PUBLIC_URL: "https://home.example.com/larder/" } }, async (own) => {
      const { client } = await own.signUp();
      const stored = await client.stored("x");
      expect(stored.string("data.url")).toBe(
        `https://home.example.com/larder/api/files/${stored.string("data.id")}/download`,
      );
    });
  });
});
