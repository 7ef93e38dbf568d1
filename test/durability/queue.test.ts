import { expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { type TestServer, withServer } from "../support/server.ts";

const files = 300;
const rounds = 3;

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
}

/** The whole queue of a device. */
async function queueOf(device: Client, query = ""): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let page = 1; ; page++) {
    const response = await device.get(`/api/mobile/queue?limit=500&page=${page}${query}`);
    expectStatus(response, 200);
    for (const index of response.list("data.operations").keys()) {
      const at = `data.operations.${index}`;
      const [id, status] = [response.string(`${at}.id`), response.string(`${at}.status`)];
      found.push({ id, status, attempts: response.number(`${at}.attempts`) });
    }
    if (response.at("data.pagination.hasNext") !== true) return found;
  }
}

/** Kills the server when a part of the queue is done. */
async function killDuringQueue(server: TestServer, device: Client, doneBefore: number): Promise<void> {
  await eventually("some operations are done", async () => {
    const response = await device.get("/api/mobile/queue?status=completed&limit=1");
    return response.number("data.pagination.total") > doneBefore;
  });
  await server.kill9();
}

test("kill -9 while a queue of deletes runs: each is done once, and reported once", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_MASS_CHANGE_FILES: "1000000" } }, async (server) => {
    const account = await server.signUp();
    const { client: device } = await registerDevice(server, account);
    const { client } = account;
    let completed = 0;
    let leftByCrashes = 0;
    for (let round = 0; round < rounds; round++) {
      const ids: string[] = [];
      for (let from = 0; from < files; from += 50) {
        const names = Array.from({ length: 50 }, (_, index) => `r${round}-${from + index}`);
        ids.push(...(await Promise.all(names.map((name) => client.storedId(name, { name })))));
      }
      const untouched = await client.storedId("kept", { name: `kept ${round}` });
      const operations = ids.map((fileId, index) => ({
        id: fileId,
        type: "delete",
        priority: index % 2 === 0 ? "low" : "high",
        createdAt: new Date().toISOString(),
        fileId,
      }));
      expectStatus(await device.post("/api/mobile/queue/add", { operations }), 200);
      await killDuringQueue(server, device, completed + round * 20);
      await server.start();
      // The phone got no response with the results, and sends all of them again.
      const again = await device.post("/api/mobile/queue/add", { operations });
      expectStatus(again, 200);
      leftByCrashes += again.strings("data.results", "status").filter((status) => status === "queued").length;
      await eventually("the queue is empty", async () => (await queueOf(device, "&status=queued")).length === 0);

      completed += files;
      const queue = await queueOf(device);
      // A second attempt of a delete would have found no file.
      expect(queue.filter(({ status, attempts }) => status !== "completed" || attempts !== 1)).toEqual([]);
      expect(queue).toHaveLength(completed);
      expectStatus(await client.get(`/api/files/${untouched}`), 200);
      const listing = await client.get("/api/files?recursive=true&type=file&limit=1");
      expect(listing.number("data.pagination.total")).toBe(round + 1);
      const usage = await client.get("/api/users/usage");
      expect(usage.number("data.storage.files")).toBe(round + 1);
    }
    expect(leftByCrashes).toBeGreaterThan(0);
  });
}, 120_000);
