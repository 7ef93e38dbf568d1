import { expect, test } from "bun:test";
import { eventually, expectStatus } from "../support/expect.ts";
import { seededRandom } from "../support/random.ts";
import { withServer } from "../support/server.ts";

const rounds = 5;
const keys = 6;

test("kill -9 under load: each acknowledged change is delivered, in order per file", async () => {
  /** The delivered versions of each file, in the order of delivery. */
  const delivered = new Map<string, number[]>();
  const messages = new Map<string, string>();
  let isShaky = true;
  const random = seededRandom(1);
  const target = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      const id = request.headers.get("webhook-id") ?? "";
      // One id always has the same message.
      if ((messages.get(id) ?? body) !== body) messages.set(id, "another message under the same id");
      else messages.set(id, body);
      const { data } = JSON.parse(body) as { data: { id: string; version: number } };
      if (isShaky && random.chance(0.02)) return new Response(null, { status: 400 });
      delivered.set(data.id, [...(delivered.get(data.id) ?? []), data.version]);
      return new Response(null, { status: 204 });
    },
  });
  try {
    await withServer({ hasAccounts: true, env: { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" } }, async (server) => {
      const { client } = await server.signUp();
      const url = `http://127.0.0.1:${target.port}/`;
      expectStatus(await client.post("/api/webhooks", { url, events: ["file.created", "file.updated"] }), 201);
      const acknowledged = new Map<string, number>();
      const ids: string[] = [];
      for (let key = 0; key < keys; key++) ids.push(await client.storedId("0", { name: `f${key}` }));
      for (const id of ids) acknowledged.set(id, 1);
      for (let round = 0; round < rounds; round++) {
        const writing = ids.map(async (id) => {
          for (let n = 0; ; n++) {
            const response = await client.putContent(id, `${round}-${n}`).catch(() => undefined);
            if (response === undefined) return;
            if (response.status === 200) acknowledged.set(id, response.number("data.version"));
          }
        });
        const before = [...delivered.values()].flat().length;
        await eventually("some deliveries", () => [...delivered.values()].flat().length > before + 20);
        await server.kill9();
        await Promise.all(writing);
        await server.start();
      }
      isShaky = false;
      await eventually(
        "everything is delivered",
        () => ids.every((id) => (delivered.get(id) ?? []).some((version) => version >= (acknowledged.get(id) ?? 0))),
        120_000,
      );
      for (const id of ids) {
        const versions = delivered.get(id) ?? [];
        const last = acknowledged.get(id) ?? 0;
        expect([...new Set(versions)].filter((version) => version <= last)).toEqual(
          Array.from({ length: last }, (_, index) => index + 1),
        );
        // Repeated deliveries came before later ones.
        expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      }
      expect([...messages.values()]).not.toContain("another message under the same id");
    });
  } finally {
    await target.stop(true);
  }
}, 180_000);
