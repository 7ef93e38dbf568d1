import { expect, test } from "bun:test";
import { type ApiResponse, type Client, checksumOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { type TestServer, withServer } from "../support/server.ts";

const files = 8;
const rounds = 3;
/** Each file has at least as many contents more after a round. */
const contentsOfRound = 3;
const kinds = ["content", "version", "trash"] as const;

interface Kept {
  readonly id: string;
  /** Contents by version as they were acknowledged. */
  readonly versions: Map<number, string>;
  /** Where the last acknowledged answer left it; undefined while an answer is missing. */
  place: "tree" | "trash" | undefined;
}

/** Changes one file again and again until the server is gone. */
async function worry(client: Client, file: Kept, turn: number): Promise<void> {
  for (let step = turn; ; ) {
    let response: ApiResponse;
    const { place } = file;
    const kind = place === "trash" ? "restore" : kinds[step++ % kinds.length];
    const content = randomContent(2_000);
    try {
      if (kind === "content") response = await client.putContent(file.id, content);
      else {
        file.place = kind === "version" ? place : undefined;
        response =
          kind === "version"
            ? await client.post(`/api/files/${file.id}/versions/1/restore`)
            : await client.post(`/api/files/trash${kind === "restore" ? "/restore" : ""}`, { fileIds: [file.id] });
      }
    } catch {
      // The server is gone; what became of the last request is seen when it is back.
      return;
    }
    expectStatus(response, 200);
    if (kind === "trash") file.place = "trash";
    else if (kind === "restore") file.place = "tree";
    else if (kind === "content") file.versions.set(response.number("data.version"), checksumOf(content));
    else file.versions.set(response.number("data.version"), file.versions.get(1) ?? "");
  }
}

async function idsInTrash(client: Client): Promise<Set<string>> {
  const response = await client.get("/api/files/trash?limit=100");
  expectStatus(response, 200);
  return new Set(response.strings("data.files", "id"));
}

/** Nothing acknowledged is lost: where each file is, and each of its contents. */
async function expectAllThere(server: TestServer, client: Client, kept: readonly Kept[]): Promise<void> {
  const trashed = await idsInTrash(client);
  for (const file of kept) {
    const isTrashed = trashed.has(file.id);
    if (file.place !== undefined) expect([file.id, isTrashed]).toEqual([file.id, file.place === "trash"]);
    file.place = isTrashed ? "trash" : "tree";
  }
  // What is in the trash, and what is an earlier content, is no waste.
  expect((await server.larder(["gc", "--now"])).code).toBe(0);
  if (trashed.size > 0) expectStatus(await client.post("/api/files/trash/restore", { fileIds: [...trashed] }), 200);
  for (const file of kept) {
    file.place = "tree";
    for (const [version, checksum] of file.versions) {
      const response = await client.get(`/api/files/${file.id}/versions/${version}/download`);
      expect([file.id, version, response.status, checksumOf(response.bytes)]).toEqual([
        file.id,
        version,
        200,
        checksum,
      ]);
    }
  }
  let usedBytes = 0;
  for (const { id } of kept) {
    const response = await client.get(`/api/files/${id}/versions`);
    for (const index of response.list("data.versions").keys())
      usedBytes += response.number(`data.versions.${index}.size`);
  }
  const usage = await client.get("/api/users/usage");
  expect(usage.at("data.storage")).toMatchObject({ files: kept.length, trash: 0, used: usedBytes });
}

test("kill -9 while files are trashed, restored and changed: nothing acknowledged is lost", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_MASS_CHANGE_FILES: "1000000" } }, async (server) => {
    const { client } = await server.signUp();
    const kept: Kept[] = [];
    for (let index = 0; index < files; index++) {
      const content = randomContent(1_000 + index);
      const id = await client.storedId(content, { name: `${index}`, fields: { folder: `/f${index % 4}` } });
      kept.push({ id, versions: new Map([[1, checksumOf(content)]]), place: "tree" });
    }
    for (let round = 0; round < rounds; round++) {
      const worries = kept.map((file, index) => worry(client, file, index));
      while (kept.some(({ versions }) => versions.size < contentsOfRound * (round + 1))) {
        // A worker that ends before the server was rejected.
        await Promise.race([Bun.sleep(5), ...worries]);
      }
      await server.kill9();
      await Promise.all(worries);
      await server.start();
      await expectAllThere(server, client, kept);
    }
  });
}, 120_000);
