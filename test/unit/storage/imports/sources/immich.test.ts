// The source for Immich, against an imitation of its API in the versions that differ.
import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { ImmichSource } from "../../../../../src/features/storage/imports/sources/immich/immich-source.ts";
import { operatorNetwork } from "../../../../../src/features/storage/imports/sources/server/network.ts";
import {
  FakeImmich,
  type FakeAsset,
  type FakeImmichContent,
  IMMICH_KEY,
  IMMICH_USER,
} from "../../../../support/immich-server.ts";
import { readContent, readSource, type ReceivedRequest, scriptedServer } from "../../../../support/import-sources.ts";

const VERSIONS = ["1.118.2", "1.133.0", "1.135.3", "2.7.5", "3.2.2"];
const OTHER = "5a7b1c22-0000-4000-8000-000000000002";

const server = await scriptedServer();
const other = await scriptedServer();

function source(address = server.url, apiKey = IMMICH_KEY, listedMax?: number): ImmichSource {
  const backoff = { firstMs: 1, maxMs: 2 };
  return new ImmichSource({ network: operatorNetwork(), address, apiKey, backoff, ...(listedMax && { listedMax }) });
}

/** Serves this, and reads it. */
function offer(content: FakeImmichContent) {
  const immich = new FakeImmich(content);
  server.respond((request) => immich.respond(request));
  return readSource(source());
}

async function failureOf(work: Promise<unknown>): Promise<{ message: string; isTemporary: boolean }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error && "isTemporary" in error) {
      return { message: error.message, isTemporary: error.isTemporary === true };
    }
    throw error;
  }
  throw new Error("it did not fail");
}

function asset(id: string, more: Partial<FakeAsset> = {}): FakeAsset {
  return { id, fileName: `${id}.jpg`, content: `content of ${id}`, ...more };
}

describe.each(VERSIONS)("version %s", (version) => {
  test("offers photos with what is known of them", async () => {
    const { files, totals } = await offer({
      version,
      pageSizeMax: 2,
      assets: [
        asset("a", { isFavorite: true, description: "On the beach", location: [54.1, 12.05] }),
        asset("b", { takenAt: "2023-12-31T23:30:00-05:00", timeZone: "America/New_York" }),
        asset("c", { takenAt: "2024-01-02T03:04:05+00:00", timeZone: null, visibility: "archive" }),
      ],
    });
    expect(totals).toEqual([{ files: 3, sizeBytes: undefined }]);
    expect(files.map(({ key, path, sizeBytes, details }) => ({ key, path, sizeBytes, details }))).toEqual([
      {
        key: "a",
        path: "2024/07/a.jpg",
        sizeBytes: 12,
        details: {
          capturedAt: "2024-07-03T12:00:00.000+02:00",
          location: { latitude: 54.1, longitude: 12.05 },
          description: "On the beach",
          isFavorite: true,
        },
      },
      { key: "b", path: "2023/12/b.jpg", sizeBytes: 12, details: { capturedAt: "2023-12-31T23:30:00.000-05:00" } },
      { key: "c", path: "2024/01/c.jpg", sizeBytes: 12, details: { capturedAt: "2024-01-02T03:04:05.000Z" } },
    ]);
    expect(files[0]?.modifiedMs).toBe(Date.parse("2024-07-04T00:00:00Z"));
    expect(Buffer.from(await readContent(files[1])).toString()).toBe("content of b");
  });

  test("offers albums, before their photos", async () => {
    const { albums, files, leftOut } = await offer({
      version,
      assets: [asset("a"), asset("b"), asset("c", { ownerId: OTHER })],
      albums: [
        { id: "1", albumName: "Summer", description: "By the sea", assetIds: ["a", "b"] },
        { id: "2", albumName: "Summer", assetIds: ["b"] },
        { id: "3", albumName: "Empty", assetIds: [] },
        { id: "4", albumName: "Family", ownerId: OTHER, assetIds: ["a", "c"], isShared: true },
        { id: "5", albumName: "Theirs", ownerId: OTHER, assetIds: ["c"], isShared: true },
        { id: "6", albumName: "Ours", assetIds: ["a"], isShared: true },
      ],
    });
    expect(albums.map(({ name, description }) => [name, description])).toEqual([
      ["Summer", "By the sea"],
      ["Summer (2)", undefined],
      ["Empty", undefined],
      ...(version.startsWith("3")
        ? [
            ["Family", undefined],
            ["Ours", undefined],
          ]
        : [
            ["Ours", undefined],
            ["Family", undefined],
          ]),
    ]);
    expect(files.map(({ key, details }) => [key, [...(details.albums ?? [])].sort()])).toEqual([
      ["a", ["Family", "Ours", "Summer"]],
      ["b", ["Summer", "Summer (2)"]],
    ]);
    const reported = leftOut.map(({ name, count }) => [name, count]);
    expect(reported).toContainEqual(["Family", 1]);
    expect(reported).toContainEqual(["Theirs", 1]);
    expect(reported).toContainEqual(["Ours", undefined]);
    expect(reported).toContainEqual(["Photos of partners", 1]);
  });

  test("offers tags, or says why not", async () => {
    const { files, leftOut } = await offer({
      version,
      assets: [asset("a"), asset("b")],
      tags: [
        { id: "2", value: "Travel/Italy", assetIds: ["a"] },
        { id: "1", value: "Travel", assetIds: ["b"] },
        { id: "3", value: "Best", assetIds: ["a", "b"] },
      ],
    });
    const hasTags = !["1.118.2", "1.133.0"].includes(version);
    expect(files.map(({ details }) => details.tags)).toEqual(
      hasTags
        ? [
            ["Best", "Travel/Italy"],
            ["Best", "Travel"],
          ]
        : [undefined, undefined],
    );
    expect(leftOut.some(({ name, count }) => name === "Tags" && count === 3)).toBe(!hasTags);
  });

  test("offers both parts of a live photo, and no part alone", async () => {
    const { files } = await offer({
      version,
      assets: [
        asset("a", { fileName: "IMG_1.HEIC" }),
        asset("b", { fileName: "img_1.heic", livePhotoVideoId: "v" }),
        asset("v", { fileName: "IMG_1.MOV", visibility: "hidden" }),
        asset("c", { fileName: "IMG_2.HEIC", livePhotoVideoId: "missing" }),
      ],
    });
    expect(files.map(({ key, path }) => [key, path])).toEqual([
      ["a", "2024/07/IMG_1.HEIC"],
      ["b", "2024/07/img_1 (2).heic"],
      ["v", "2024/07/img_1 (2).MOV"],
      ["c", "2024/07/IMG_2.HEIC"],
    ]);
    expect(Buffer.from(await readContent(files[2])).toString()).toBe("content of v");
  });

  test("leaves out what is in the trash, of partners, or lost, and reports it", async () => {
    const { files, leftOut } = await offer({
      version,
      people: 7,
      assets: [
        asset("a", { visibility: "archive", stackId: "s", rating: 5 }),
        asset("b", { isTrashed: true }),
        asset("c", { ownerId: OTHER }),
        asset("d", { isOffline: true }),
        asset("e", { isUnread: true }),
        asset("f", { visibility: "locked" }),
      ],
    });
    expect(files.map(({ key }) => key)).toEqual(["a"]);
    const reported = leftOut.map(({ name, reason, count }) => [name, reason, count]);
    expect(reported.filter(([name]) => name !== "Locked folder")).toEqual([
      ["Trash", "trashed", 1],
      ["Archive", "unsupported", 1],
      ["People", "unsupported", 7],
      ["2024/07/d.jpg", "unreadable", undefined],
      ["Photos of partners", "unsupported", 1],
      ["Stacks", "unsupported", 1],
      ["Ratings", "unsupported", 1],
      ["Photos that Immich does not list", "unreadable", 1],
    ]);
    expect(reported.some(([name]) => name === "Locked folder")).toBe(version !== "1.118.2");
  });
});

test("edits are reported", async () => {
  const { leftOut } = await offer({ assets: [asset("a", { isEdited: true })] });
  expect(leftOut.find(({ name }) => name === "Edits")?.count).toBe(1);
});

test("a version changes with the details, and only with them", async () => {
  const versionOf = async (more: Partial<FakeAsset>) => (await offer({ assets: [asset("a", more)] })).files[0]?.version;
  const first = await versionOf({});
  expect(await versionOf({})).toBe(first);
  expect(await versionOf({ isFavorite: true })).not.toBe(first);
  expect(await versionOf({ content: "other" })).not.toBe(first);
});

describe("the address and the key", () => {
  const one = new FakeImmich({ assets: [asset("a")] });

  test.each([["/api"], ["/photos"], ["/albums/1234"], ["/auth/login?x=1"]])("may be that of %s", async (path) => {
    server.respond((request) => one.respond(request));
    expect((await readSource(source(server.url + path))).files).toHaveLength(1);
  });

  test("must be those of an Immich", async () => {
    server.respond(() => ({ body: "<html>" }));
    expect((await failureOf(readSource(source()))).message).toContain("No Immich of version 1.118 or newer");
    server.respond(() => ({ status: 404 }));
    expect((await failureOf(readSource(source()))).message).toContain("No Immich of version 1.118 or newer");
    expect((await failureOf(offer({ version: "1.106.4" }))).message).toContain("This Immich has version 1.106");
  });

  test("are explained if the key is wrong", async () => {
    server.respond((request) => one.respond(request));
    const { message, isTemporary } = await failureOf(readSource(source(server.url, "wrong-key")));
    expect(message).toContain("rejected the API key");
    expect([message.includes("wrong-key"), isTemporary]).toEqual([false, false]);
  });

  test("are rejected if the key is none", () => {
    expect(() => source(server.url, "key\nwith a line break")).toThrow("characters that none can have");
  });

  test.each([["user.read"], ["asset.read"], ["album.read"], ["tag.read"], ["asset.statistics"]])(
    "need the permission %s",
    async (permission) => {
      const { message } = await failureOf(offer({ assets: [asset("a")], denied: [permission] }));
      expect(message).toContain(permission);
      expect(message).toContain("asset.download");
    },
  );

  test("do not need a permission to read people", async () => {
    const { files } = await offer({ assets: [asset("a")], denied: ["person.read"], people: 3 });
    expect(files).toHaveLength(1);
  });

  test("are not sent to another server", async () => {
    server.respond((request) => {
      if (!request.path.startsWith("/api/users/me")) return one.respond(request);
      return { status: 302, headers: { location: `${other.url}/api/users/me` } };
    });
    expect((await failureOf(readSource(source()))).message).toContain(`redirects to ${other.url}`);
    expect(other.requests).toEqual([]);
  });
});

describe("responses of another form", () => {
  test.each([
    ["/api/server/version", "{}"],
    ["/api/users/me", "[]"],
    ["/api/users/me", "<html>"],
    ["/api/assets/statistics", '{"total":"3"}'],
    ["/api/albums", "{}"],
    ["/api/tags", '["a"]'],
    ["/api/search/metadata", '{"assets":{}}'],
    ["/api/search/metadata", '{"assets":{"items":[{"id":"a"}]}}'],
  ])("of %s are named: %s", async (endpoint, body) => {
    const one = new FakeImmich({ assets: [asset("a")] });
    server.respond((request) => (request.path.split("?")[0] === endpoint ? { body } : one.respond(request)));
    const { message, isTemporary } = await failureOf(readSource(source()));
    expect(message).toContain(endpoint);
    expect(isTemporary).toBe(false);
  });
});

describe("lists", () => {
  const MEGABYTE = 1024 * 1024;
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const numbers = (count: number) => `[${"1,".repeat(count - 1)}1]`;
  const photos = (more: string) => `{"assets":{"items":[],"more":${more}}}`;
  const one = new FakeImmich({ assets: [asset("a")] });

  /** Reads everything, with another response of this endpoint. */
  function readWith(endpoint: string, body: string) {
    server.respond((request) => (request.path.split("?")[0] === endpoint ? { body } : one.respond(request)));
    return readSource(source());
  }

  // A server could fill the memory, and block this one for seconds.
  test.each([
    ["17 MB", "/api/albums", `[${" ".repeat(17 * MEGABYTE)}]`],
    ["600,000 values", "/api/tags", `[{"id":"1","value":"Best","more":${numbers(600_000)}}]`],
    ["600,000 values", "/api/search/metadata", photos(numbers(600_000))],
    ["100 levels", "/api/albums", `[{"id":"1","more":${nested(100)}}]`],
    ["100 levels", "/api/search/metadata", photos(nested(100))],
  ])("with %s end the import: %s", async (_, endpoint, body) => {
    const { message, isTemporary } = await failureOf(readWith(endpoint, body));
    expect(message).toBe(`The response of the server to ${endpoint} is not valid JSON, or is too long.`);
    expect(isTemporary).toBe(false);
    // It is not requested again.
    expect(server.requests.filter(({ path }) => path.split("?")[0] === endpoint)).toHaveLength(1);
  });

  test.each([
    ["15 MB", `[${" ".repeat(15 * MEGABYTE)}]`],
    ["400,000 values", `[{"id":"1","value":"Best","more":${numbers(400_000)}}]`],
    ["50 levels", `[{"id":"1","value":"Best","more":${nested(50)}}]`],
  ])("with %s are read", async (_, body) => {
    expect((await readWith("/api/tags", body)).files).toHaveLength(1);
  });

  test("with too many photos end the import, even if each page is small", async () => {
    // A server could name another page without end.
    const endless = new FakeImmich({ assets: [asset("a"), asset("b")], pageSizeMax: 2 });
    server.respond((request) => {
      if (request.path !== "/api/search/metadata") return endless.respond(request);
      const page = Number(/"page":(\d+)/.exec(request.body)?.[1]);
      const first = endless.respond({ ...request, body: request.body.replace(`"page":${page}`, '"page":1') });
      // Without the limit, the test ends too.
      const nextPage = page < 10 ? `"${page + 1}"` : "null";
      return { ...first, body: String(first.body).replace('"nextPage":null', `"nextPage":${nextPage}`) };
    });
    const { message, isTemporary } = await failureOf(readSource(source(server.url, IMMICH_KEY, 6)));
    expect(message).toBe("The server lists too many photos.");
    expect(isTemporary).toBe(false);
    expect(server.requests.filter(({ path }) => path === "/api/search/metadata")).toHaveLength(4);
  });
});

describe("a download", () => {
  /** Downloads an asset, for which the server responds this way. */
  async function downloaded(one: FakeAsset, change: (request: ReceivedRequest) => object) {
    const immich = new FakeImmich({ assets: [one] });
    server.respond((request) => {
      const response = immich.respond(request);
      return request.path.endsWith("/original") ? { ...response, ...change(request) } : response;
    });
    const { files } = await readSource(source());
    return Buffer.from(await readContent(files[0])).toString();
  }

  test("with another content than its checksum is no file", async () => {
    const wrong = asset("a", { checksum: createHash("sha1").update("other").digest("base64") });
    const failure = await failureOf(downloaded(wrong, () => ({})));
    expect(failure).toMatchObject({ isTemporary: false });
    expect(failure.message).toContain("differs from the SHA1 checksum");
  });

  test("of an external library is not compared with the checksum of its path", async () => {
    const path = `path:/data/upload/${IMMICH_USER}/ab/cd/a.jpg`;
    const external = asset("a", { checksum: createHash("sha1").update(path).digest("base64") });
    expect(await downloaded(external, () => ({}))).toBe("content of a");
  });

  test("that breaks continues where it broke", async () => {
    const content = "content of a";
    const ranges: (string | undefined)[] = [];
    const text = await downloaded(asset("a"), ({ headers: { range } }) => {
      ranges.push(range);
      if (range === undefined) return { cutAfter: 4 };
      return { status: 206, headers: { "content-range": `bytes 4-11/12` }, body: content.slice(4) };
    });
    expect(text).toBe(content);
    expect(ranges).toEqual([undefined, "bytes=4-"]);
  });

  test("that breaks again and again ends", async () => {
    const failure = await failureOf(downloaded(asset("a"), () => ({ cutAfter: 0 })));
    expect(failure.isTemporary).toBe(true);
  });

  test("that the server delays is repeated", async () => {
    let failures = 2;
    const text = await downloaded(asset("a"), () =>
      failures-- > 0 ? { status: 429, headers: { "retry-after": "0" } } : {},
    );
    expect(text).toBe("content of a");
  });

  test("that the key does not permit is explained", async () => {
    const { files } = await offer({ assets: [asset("a")], denied: ["asset.download"] });
    expect((await failureOf(readContent(files[0]))).message).toContain("does not allow the download");
  });
});

test("a photo that is in no page is found in the other direction, and none is offered twice", async () => {
  const assets = ["a", "b", "c", "d"].map((id) => asset(id));
  const immich = new FakeImmich({ assets, pageSizeMax: 2 });
  // The second page begins with a photo of the first one: the pages were ordered differently.
  const reordered = new FakeImmich({ assets: ["a", "c", "b", "d"].map((id) => asset(id)), pageSizeMax: 2 });
  const backward = new FakeImmich({ assets: assets.toReversed(), pageSizeMax: 2 });
  server.respond((request) => {
    if (request.path !== "/api/search/metadata") return immich.respond(request);
    if (request.body.includes('"desc"')) return backward.respond(request);
    return (request.body.includes('"page":2') ? reordered : immich).respond(request);
  });
  const { files, leftOut } = await readSource(source());
  expect(files.map(({ key }) => key)).toEqual(["a", "b", "d", "c"]);
  expect(leftOut.some(({ name }) => name === "Photos that Immich does not list")).toBe(false);
});

test("failures in the middle of a list are repeated", async () => {
  const immich = new FakeImmich({ assets: [asset("a"), asset("b"), asset("c")], pageSizeMax: 1 });
  let failures = 3;
  server.respond((request) => {
    const response = immich.respond(request);
    if (request.path !== "/api/search/metadata" || !request.body.includes('"page":2')) return response;
    failures--;
    if (failures === 2) return { ...response, cutAfter: 20 };
    return failures > 0 ? { status: 503 } : response;
  });
  const { files } = await readSource(source());
  expect(files.map(({ key }) => key)).toEqual(["a", "b", "c"]);
});
