import { describe, expect, test } from "bun:test";
import { PAGE_ROUTE } from "../../../../src/features/accounts/routing/declaration.ts";
import { Router, routeTable } from "../../../../src/features/accounts/routing/router.ts";

const OPEN = { access: "public", rate: "general", audit: "unaudited", docs: "hidden" } as const;
const CLOSED = { ...OPEN, access: "admin", scope: "admin" } as const;
const handler = () => "done";

describe("a route", () => {
  test("does not compile without one of its declarations", () => {
    const { access: _access, ...noAccess } = OPEN;
    const { rate: _rate, ...noRate } = OPEN;
    const { audit: _audit, ...noAudit } = OPEN;
    const { docs: _docs, ...noDocs } = OPEN;
    const { scope: _scope, ...noScope } = CLOSED;
    const mount = () =>
      new Router()
        // @ts-expect-error -- access
        .get("/a", noAccess, handler)
        // @ts-expect-error -- rate
        .get("/b", noRate, handler)
        // @ts-expect-error -- audit
        .get("/c", noAudit, handler)
        // @ts-expect-error -- docs
        .get("/d", noDocs, handler)
        // @ts-expect-error -- scope, of a route that is not public
        .get("/e", noScope, handler);
    expect(mount).toThrow("a router whose routes are not public has a guard");
  });

  test("without public access requires the guard that checks its callers", () => {
    expect(() => new Router().get("/", CLOSED, handler)).toThrow("has a guard");
  });

  test("is found by its full path, including the prefixes of its routers", () => {
    const inner = new Router({ prefix: "/inner" }).get("/:id", OPEN, handler);
    const outer = new Router({ prefix: "/outer" }).use(inner).post("/", OPEN, handler);
    const table = routeTable(outer);
    expect(table.find("GET", "/outer/inner/1")?.path).toBe("/outer/inner/:id");
    expect(table.find("POST", "/outer")?.declaration).toBe(OPEN);
  });
});

describe("a handler of GET", () => {
  const app = (handle: () => unknown) => new Router().get("/", OPEN, handle).plugin;
  const request = () => new Request("http://localhost/");

  test("that is synchronous gives its response without a promise", async () => {
    const response: unknown = app(() => JSON.parse('"done"')).fetch(request());
    expect(response).toBeInstanceOf(Response);
  });

  test("may return a promise all the same", async () => {
    const response = await app(() => Promise.resolve("done")).fetch(request());
    expect(await response.text()).toBe("done");
  });
});

describe("an application", () => {
  test("does not start with an undeclared route", () => {
    const router = new Router().get("/", PAGE_ROUTE, handler);
    router.plugin.get("/undeclared", handler);
    expect(() => routeTable(router)).toThrow("GET /undeclared is declared");
  });

  test("does not start with two routes for the same path", () => {
    const router = new Router().get("/", PAGE_ROUTE, handler).get("/", OPEN, handler);
    expect(() => routeTable(router)).toThrow("no two routes are declared for one address");
  });
});
