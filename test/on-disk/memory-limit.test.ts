// Many uploads at once on a machine, or in a unit, with little memory.
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Client, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { makeMemoryGroup, type MemoryGroup } from "../support/memory-group.ts";
import { type TestServer, withServer } from "../support/server.ts";

const MIB = 1024 * 1024;
const UPLOADS = 64;
const UPLOAD_BYTES = 6 * MIB;

/** The result of the uploads: digests of acknowledged files by id, statuses of the rest, and broken connections. */
interface Outcome {
  acknowledged: Map<string, string>;
  refused: number[];
  broken: number;
}

async function storm(client: Client): Promise<Outcome> {
  const outcome: Outcome = { acknowledged: new Map(), refused: [], broken: 0 };
  const content = randomContent(UPLOAD_BYTES);
  await Promise.all(
    Array.from({ length: UPLOADS }, async (_, index) => {
      const bytes = Uint8Array.from(content);
      bytes[0] = index;
      const digest = createHash("sha256").update(bytes).digest("hex");
      const response = await client.upload(bytes, { name: `${index}.bin` }).catch(() => undefined);
      if (response === undefined) outcome.broken++;
      else if (response.status === 201) outcome.acknowledged.set(response.string("data.id"), digest);
      else outcome.refused.push(response.status);
    }),
  );
  return outcome;
}

async function expectWhole(client: Client, { acknowledged }: Outcome): Promise<void> {
  for (const [id, digest] of acknowledged) {
    const response = await client.get(`/api/files/${id}/download`);
    expectStatus(response, 200);
    expect(createHash("sha256").update(response.bytes).digest("hex")).toBe(digest);
  }
}

/** Anonymous memory of the server, which the kernel cannot reclaim. */
async function anonymousBytes(server: TestServer): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, "utf8");
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Runs `use` with a control group of this much memory. If none can be created, the test prints that and passes. */
async function withMemory(mebibytes: number, use: (group: MemoryGroup) => Promise<void>): Promise<void> {
  const group = makeMemoryGroup(mebibytes * MIB);
  if (group === undefined) {
    console.warn("SKIPPED: control groups can't be made here (no root, or a container without them)");
    return;
  }
  try {
    await use(group);
  } finally {
    group.remove();
  }
}

test("64 uploads at once in 256 MiB are all accepted, or rejected with 503", async () => {
  await withMemory(256, async (group) => {
    await withServer({ hasAccounts: true, prefix: group.prefix }, async (server) => {
      const { client } = await server.signUp();
      const outcome = await storm(client);
      expect(outcome.broken).toBe(0);
      expect(outcome.refused.filter((status) => status !== 503)).toEqual([]);
      expect(outcome.acknowledged.size).toBeGreaterThan(0);
      await expectWhole(client, outcome);
      expect(group.kills()).toBe(0);
      expect(await server.stop()).toBe(0);
    });
  });
}, 120_000);

test("if the kernel kills the server for lack of memory, nothing acknowledged is lost", async () => {
  await withMemory(1024, async (group) => {
    await withServer({ hasAccounts: true, prefix: group.prefix }, async (server) => {
      const { client } = await server.signUp();
      const first = await client.storedId("acknowledged before the storm");
      // The memory that the server needs depends on the number of cores; the addition does not.
      group.limit((await anonymousBytes(server)) + 24 * MIB);
      const outcome = await storm(client);
      // The server may have survived; only the state afterwards counts.
      await server.restart({ prefix: [] });
      expect((await client.get(`/api/files/${first}/download`)).text).toBe("acknowledged before the storm");
      await expectWhole(client, outcome);
      expectStatus(await client.stored("after", { name: "after.txt" }), 201);
    });
  });
}, 120_000);
