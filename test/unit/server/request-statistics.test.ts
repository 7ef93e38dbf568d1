import { expect, test } from "bun:test";
import { RequestStatistics } from "../../../src/server/observability/request-statistics.ts";

test("requests count by route, method and class, for any ids and methods that clients send", () => {
  const statistics = new RequestStatistics(() => ["/api/files/:id", "/api/files/"]);
  for (let id = 0; id < 1_000; id++) statistics.note("GET", `/api/files/${id}`, 200, 3);
  for (let id = 0; id < 1_000; id++) statistics.note(`M${id}`, `/nothing/${id}`, 404, 1);
  statistics.note("GET", "/api/files/x", 503, 20_000);
  expect(statistics.routes.map(({ route, method, byClass }) => ({ route, method, byClass: [...byClass] }))).toEqual([
    { route: "/api/files/{id}", method: "GET", byClass: [0, 1000, 0, 0, 1] },
    { route: "other", method: "OTHER", byClass: [0, 0, 0, 1000, 0] },
  ]);
  expect(statistics.routes[0]?.latency.count).toBe(1001);
  expect(statistics.routes[0]?.latency.sum).toBeCloseTo(23, 5);
});

test("rejections count by their reason, those of rate limits also by category", () => {
  const statistics = new RequestStatistics(() => []);
  statistics.noteFailure("rate_limited", "listing");
  statistics.noteFailure("rate_limited", "uploads");
  statistics.noteFailure("missing_token", "listing");
  expect(statistics.failures).toBe(3);
  expect(Object.fromEntries(statistics.rejections)).toEqual({ rate_limited: 2, missing_token: 1 });
  expect([...statistics.rateLimited].filter(([, count]) => count > 0)).toEqual([
    ["uploads", 1],
    ["listing", 1],
  ]);
});
