// GET /metrics: what is counted, and under which names. outside-api.test.ts tests who may read it.
import { describe, expect, test } from "bun:test";
import { eventually, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const server = sharedServer({ env: { LARDER_LOG_LEVEL: "warn" } });

/** The values of lines, by their names with labels. */
async function readMetrics(from: TestServer, ...names: string[]): Promise<number[]> {
  const { text } = await from.visitor.get("/metrics");
  return names.map((name) => {
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  });
}

test("requests count by the pattern of their route and by the class of their status", async () => {
  const { client } = await server().signUp();
  const names = [
    'larder_requests_total{route="/api/files/{id}",method="GET",status="2xx"}',
    'larder_requests_total{route="/api/files/{id}",method="GET",status="4xx"}',
    'larder_requests_total{route="other",method="GET",status="4xx"}',
    'larder_request_duration_seconds_count{route="/api/files/{id}",method="GET"}',
    'larder_request_duration_seconds_bucket{route="/api/files/{id}",method="GET",le="+Inf"}',
    'larder_rejections_total{reason="missing_token"}',
  ];
  const before = await readMetrics(server(), ...names);
  const id = await client.storedId("x");
  for (let count = 0; count < 3; count++) expectStatus(await client.get(`/api/files/${id}`), 200);
  expectStatus(await client.get("/api/files/file_00000000000000000000"), 404);
  expectStatus(await server().visitor.get(`/api/files/${id}`), 401);
  for (let count = 0; count < 4; count++) await server().visitor.get(`/nothing/${count}`);
  const after = await readMetrics(server(), ...names);
  expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([3, 2, 4, 5, 5, 1]);
});

test("transfers, blobs and accounts are counted", async () => {
  const names = [
    "larder_uploads_total",
    "larder_uploaded_bytes_total",
    "larder_downloads_total",
    "larder_downloaded_bytes_total",
    "larder_blobs",
    "larder_blob_bytes",
    "larder_files",
    'larder_users{role="user"}',
  ];
  // A separate server, whose first scrape is current. On a busy machine, a later scrape may have cached totals.
  await withServer({ env: { LARDER_LOG_LEVEL: "warn" } }, async (own) => {
    const before = await readMetrics(own, ...names);
    const readGrowth = async () =>
      (await readMetrics(own, ...names)).map((value, index) => value - (before[index] ?? 0));
    const { client } = await own.signUp();
    const id = await client.storedId("seven b");
    expectStatus(await client.get(`/api/files/${id}/download`), 200);
    expect((await readGrowth()).slice(0, 4)).toEqual([1, 7, 1, 7]);
    await eventually("all counts", async () => (await readGrowth()).join() === "1,7,1,7,1,7,1,1");
  });
});

test("every family has its help and its type once, and no line is repeated", async () => {
  const { text } = await server().visitor.get("/metrics");
  const lines = text.split("\n").filter((line) => line !== "");
  const types = lines.flatMap((line) => /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)?.[1] ?? []);
  const helps = lines.flatMap((line) => /^# HELP (\S+) \S/.exec(line)?.[1] ?? []);
  expect(types).toEqual(helps);
  expect(new Set(types).size).toBe(types.length);
  const names = lines.filter((line) => !line.startsWith("#")).map((line) => line.slice(0, line.lastIndexOf(" ")));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    const family = name.replace(/\{.*/, "").replace(/_(bucket|sum|count)$/, "");
    expect({ name, isReported: types.includes(family) || types.includes(name.replace(/\{.*/, "")) }).toEqual({
      name,
      isReported: true,
    });
  }
});

test("the metrics for alerts exist from the first scrape on", async () => {
  const { text } = await server().visitor.get("/metrics");
  for (const name of [
    "larder_ready",
    "larder_requests_in_flight",
    'larder_rate_limit_rejections_total{category="uploads"}',
    'larder_queue_depth{queue="mail"}',
    'larder_queue_depth{queue="push"}',
    'larder_queue_depth{queue="webhooks"}',
    'larder_queue_depth{queue="media"}',
    'larder_queue_depth{queue="thumbnails"}',
    'larder_queue_depth{queue="search"}',
    'larder_job_running{job="gc"}',
    "larder_oldest_verification_seconds",
    'larder_findings{kind="damaged"}',
    "larder_disk_available_bytes",
    "larder_database_bytes",
    "larder_database_log_bytes",
    "larder_commit_duration_seconds_count",
    "larder_commit_transactions_count",
    "larder_transactions_waiting",
    "larder_uploads_in_progress",
    "larder_transactions_waiting",
    "larder_uploads_in_progress",
    "larder_database_busy_total",
    'larder_event_loop_delay_seconds{quantile="0.99"}',
    "process_resident_memory_bytes",
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_max_fds",
    "process_start_time_seconds",
  ]) {
    expect({ name, isThere: text.includes(`\n${name} `) }).toEqual({ name, isThere: true });
  }
  expect(text).toMatch(/^larder_info\{version="\d+\.\d+\.\d+[^"]*",commit="[^"]+"\} 1$/m);
});

describe("a server with limits", () => {
  test("counts its rejections by category", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free" } }, async (limited) => {
      const { client } = await limited.signUp();
      let rejected = 0;
      for (let count = 0; count < 102; count++) if ((await client.get("/api/files")).status === 429) rejected++;
      expect(rejected).toBeGreaterThan(0);
      expect(await readMetrics(limited, 'larder_rate_limit_rejections_total{category="listing"}')).toEqual([rejected]);
    });
  });
});

testAllResponses(server);
