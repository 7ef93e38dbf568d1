import { afterEach, beforeEach, expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import { DurabilityService } from "../../../../src/features/mobile/durability/service.ts";
import { BlobRows } from "../../../../src/features/storage/integrity/blob-rows.ts";
import type { FileNode } from "../../../../src/tree/model/types.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { blobOf, TestTree } from "../../tree/support.ts";
import { say } from "../../../../src/translations/say.ts";

const GIB = 1024 ** 3;
let tree: TestTree;
let user: User;
let durability: DurabilityService;
/** The names of the files that were read, in order. */
let read: string[];
let readContent: (file: FileNode) => Promise<void>;

beforeEach(() => {
  tree = new TestTree();
  user = {
    id: tree.addAccount(),
    publicId: "usr_1",
    email: "a@example.com",
    name: "A",
    role: "user",
    plan: "free",
    createdAtMs: 0,
    disabledAtMs: null,
    quotaBytes: null,
  };
  read = [];
  readContent = async () => {};
  const blobRows = new BlobRows(tree.db.sqlite);
  durability = new DurabilityService({
    tree: tree.read,
    blobs: { stat: (digest) => tree.read.findBlob(digest) },
    blobRows,
    files: {
      checkContent: async (file) => {
        read.push(file.name);
        await readContent(file);
        tree.run(() => blobRows.markVerified(file.digest, tree.clock.nowMs()));
        return { stored: file.digest, actual: file.digest, ok: true };
      },
    },
    snapshotsFolder: `${tree.directory}/snapshots`,
    log: silentLog,
  });
});

afterEach(() => tree.close());

function addFile(name: string, sizeBytes: number, content = name): string {
  return tree.addFile(user.id, "/", name, { blob: blobOf(content, sizeBytes) }).publicId;
}

/** `verified` for each file, or why not. */
async function verify(fileIds: readonly string[], signal = new AbortController().signal) {
  const outcomes = await durability.check(
    user,
    fileIds.map((fileId) => ({ fileId })),
    { verify: true, signal },
  );
  return outcomes.map((outcome): string => {
    if ("error" in outcome) return outcome.error.reason;
    return outcome.durability.isVerified ? "verified" : (outcome.durability.unreadReason ?? "unverified");
  });
}

test("one request reads at most 1 GiB, or one larger file", async () => {
  const [large, small, half, rest] = [
    addFile("large", 2 * GIB),
    addFile("small", 1),
    addFile("half", GIB / 2),
    addFile("rest", GIB / 2),
  ];
  expect(await verify([large, small])).toEqual(["verified", "verify_limit"]);
  // A file that exceeds the rest of the limit is skipped, and the next ones are tried.
  expect(await verify([half, large, rest, small])).toEqual(["verified", "verify_limit", "verified", "verify_limit"]);
  expect(read).toEqual(["large", "half", "rest"]);
});

test("content that several files have is read once", async () => {
  const ids = [addFile("a", 5, "same"), addFile("b", 5, "same"), addFile("c", 5)];
  expect(await verify([...ids, ...ids])).toEqual(Array.from({ length: 6 }, () => "verified"));
  expect(read).toHaveLength(2);
});

test("a file that can't be read does not affect the others", async () => {
  const [bad, good] = [addFile("bad", 1), addFile("good", 1)];
  readContent = async (file) => {
    if (file.name === "bad") throw new AppError("storage_error", say`The disk returned errors.`);
  };
  expect(await verify([bad, good, "file_none"])).toEqual(["storage_error", "verified", "not_found"]);
});

test("requests read one after the other, too many are rejected, and a cancelled one reads nothing", async () => {
  const id = addFile("a", 1);
  const other = addFile("b", 1);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  readContent = () => released;
  const cancelled = AbortSignal.abort();
  const requests = Array.from({ length: 8 }, (_, index) =>
    verify([index === 7 ? other : id], index === 6 ? cancelled : undefined),
  );
  expect(await verify([id])).toEqual(["overloaded"]);
  expect(read).toEqual(["a"]);
  release();
  const responses = await Promise.all(requests);
  expect(responses.map(([response]) => response)).toEqual([
    ...Array.from({ length: 6 }, () => "verified"),
    "verify_limit",
    "verified",
  ]);
  expect(read).toEqual(["a", "a", "a", "a", "a", "a", "b"]);
  expect(await verify([id])).toEqual(["verified"]);
});
