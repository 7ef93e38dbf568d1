import { expect, test } from "bun:test";
import { type ApiResponse, type Client, checksumOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { type TestServer, withServer } from "../support/server.ts";

const files = 8;
const rounds = 3;
/** Each file gets at least this many versions a round. */
const versionsPerRound = 3;
const kinds = ["content", "version", "trash"] as const;

interface TestFile {
  readonly id: string;
  /** Acknowledged checksums by version. */
  readonly versions: Map<number, string>;
  /** The location after the last response; undefined while a response is missing. */
  location: "tree" | "trash" | undefined;
}

/** Changes one file repeatedly until the server is killed. */
async function keepChanging(client: Client, file: TestFile, turn: number): Promise<void> {
  for (let step = turn; ; ) {
    let response: ApiResponse;
    const { location } = file;
    const kind = location === "trash" ? "restore" : kinds[step++ % kinds.length];
    const content = randomContent(2_000);
    try {
      if (kind === "content") response = await client.putContent(file.id, content);
      else {
        file.location = kind === "version" ? location : undefined;
        response =
          kind === "version"
            ? await client.post(`/api/files/${file.id}/versions/1/restore`)
            : await client.post(`/api/files/trash${kind === "restore" ? "/restore" : ""}`, { fileIds: [file.id] });
      }
    } catch {
      // The server was killed; the result of the last request is seen after its start.
      return;
    }
    expectStatus(response, 200);
    if (kind === "trash") file.location = "trash";
    else if (kind === "restore") file.location = "tree";
    else if (kind === "content") file.versions.set(response.number("data.version"), checksumOf(content));
    else file.versions.set(response.number("data.version"), file.versions.get(1) ?? "");
  }
}

async function idsInTrash(client: Client): Promise<Set<string>> {
  const response = await client.get("/api/files/trash?limit=100");
  expectStatus(response, 200);
  return new Set(response.strings("data.files", "id"));
}

/** Expects each file at its acknowledged location, with all versions. */
async function expectAllThere(server: TestServer, client: Client, testFiles: readonly TestFile[]): Promise<void> {
  const trashed = await idsInTrash(client);
  for (const file of testFiles) {
    const isTrashed = trashed.has(file.id);
    if (file.location !== undefined) expect([file.id, isTrashed]).toEqual([file.id, file.location === "trash"]);
    file.location = isTrashed ? "trash" : "tree";
  }
  // Trashed files and earlier versions are not garbage.
  expect((await server.larder(["gc", "--now"])).code).toBe(0);
  if (trashed.size > 0) expectStatus(await client.post("/api/files/trash/restore", { fileIds: [...trashed] }), 200);
  for (const file of testFiles) {
    file.location = "tree";
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
  for (const { id } of testFiles) {
    const response = await client.get(`/api/files/${id}/versions`);
    for (const index of response.list("data.versions").keys())
      usedBytes += response.number(`data.versions.${index}.size`);
  }
  const usage = await client.get("/api/users/usage");
  expect(usage.at("data.storage")).toMatchObject({ files: testFiles.length, trash: 0, used: usedBytes });
}

test("kill -9 while files are trashed, restored, and changed: nothing acknowledged is lost", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_MASS_CHANGE_FILES: "1000000" } }, async (server) => {
    const { client } = await server.signUp();
    const testFiles: TestFile[] = [];
    for (let index = 0; index < files; index++) {
      const content = randomContent(1_000 + index);
      const id = await client.storedId(content, { name: `${index}`, fields: { folder: `/f${index % 4}` } });
      testFiles.push({ id, versions: new Map([[1, checksumOf(content)]]), location: "tree" });
    }
    for (let round = 0; round < rounds; round++) {
      const workers = testFiles.map((file, index) => keepChanging(client, file, index));
      while (testFiles.some(({ versions }) => versions.size < versionsPerRound * (round + 1))) {
        // A worker that ends before the server failed.
        await Promise.race([Bun.sleep(5), ...workers]);
      }
      await server.kill9();
      await Promise.all(workers);
      await server.start();
      await expectAllThere(server, client, testFiles);
    }
  });
}, 120_000);
