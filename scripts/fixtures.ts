/**
 * Creates test/fixtures/releases/: data directories of earlier versions, each with a list of its files. Each version runs
 * from the source of its commit, and is filled over its own API.
 *
 *   bun scripts/fixtures.ts NAME COMMIT LEVEL [--killed]
 *
 * LEVEL is the set of features of that version: 2 files and folders; 3 also devices; 4 also versions, trash, shares, and
 * API keys. --killed kills it, as a power cut does. Existing fixtures are never created again: released data is frozen.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const TARGET = join(ROOT, "test/fixtures/releases");
const PASSWORD = "correct horse battery";
const DEVICE = "0b9b0c1e-6f3c-4f0e-9f55-0a4c1f0d9a01";
const START_MS_MAX = 30_000;

interface FixtureFile {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  readonly tags: readonly string[];
  readonly description: string;
  /** Digests of its versions, oldest first. */
  readonly versions: readonly string[];
}

/** The list of a data directory. */
interface Fixture {
  readonly name: string;
  readonly commit: string;
  readonly isKilled: boolean;
  readonly email: string;
  readonly otherEmail: string;
  readonly password: string;
  readonly files: FixtureFile[];
  readonly folders: string[];
  readonly otherFiles: string[];
  readonly deviceId: string | null;
  readonly trash: string[];
  readonly shareToken: string | null;
  readonly apiKey: string | null;
}

const [name = "", commit = "", levelText = "", killed] = process.argv.slice(2);
const level = Number(levelText);
if (!/^[\w.-]+$/.test(name) || !/^[0-9a-f]{7,40}$/.test(commit) || ![2, 3, 4].includes(level)) {
  throw new Error("Usage: bun scripts/fixtures.ts NAME COMMIT 2|3|4 [--killed]");
}
if (existsSync(join(TARGET, `${name}.json`))) throw new Error(`${name} exists already, and is frozen.`);

const work = mkdtempSync(join(tmpdir(), "larder-fixture-"));
try {
  const source = join(work, "source");
  const data = join(work, "data");
  mkdirSync(source);
  await run(["sh", "-c", `git -C '${ROOT}' archive ${commit} | tar -x -C '${source}'`]);
  symlinkSync(join(ROOT, "node_modules"), join(source, "node_modules"));
  const fixture = await fill(source, data, killed === "--killed");
  mkdirSync(TARGET, { recursive: true });
  const out = ["larder.reserve", "larder.lock", "thumbs", "native"].map((one) => `--exclude=./${one}`);
  await run(["tar", "--zstd", ...out, "-cf", join(TARGET, `${name}.tar.zst`), "-C", data, "."]);
  writeFileSync(join(TARGET, `${name}.json`), `${JSON.stringify(fixture, undefined, 2)}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function fill(source: string, data: string, isKilled: boolean): Promise<Fixture> {
  const child = Bun.spawn(
    [process.execPath, "src/main.ts", "serve", "--data", data, "--host", "127.0.0.1", "--port", "0"],
    {
      cwd: source,
      env: { PATH: process.env["PATH"] ?? "", HOME: work, LARDER_RATE_LIMITS: "off", LARDER_SIGNUP: "open" },
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  try {
    const url = await readAddress(child.stdout);
    const email = "anna@example.org";
    const otherEmail = "bert@example.org";
    await command(source, data, ["user", "add", email, "--name", "Anna Ä", "--admin", "--plan", "enterprise"]);
    await command(source, data, ["user", "add", otherEmail, "--plan", "pro"]);
    const anna = new AccountClient(url, await signIn(url, email));
    const bert = new AccountClient(url, await signIn(url, otherEmail));
    const fixture: Fixture = {
      name,
      commit,
      isKilled,
      email,
      otherEmail,
      password: PASSWORD,
      files: [],
      folders: [],
      otherFiles: [],
      deviceId: null,
      trash: [],
      shareToken: null,
      apiKey: null,
    };
    const files = await fillFiles(anna, fixture);
    await bert.upload("/shared name.txt", "dear anna", { tags: [], description: "" });
    fixture.otherFiles.push("/shared name.txt");
    const withDevice = level >= 3 ? { ...fixture, deviceId: await fillDevice(anna, email) } : fixture;
    return level >= 4 ? { ...withDevice, ...(await fillSharing(anna, withDevice, files)) } : withDevice;
  } finally {
    child.kill(isKilled ? "SIGKILL" : "SIGTERM");
    await child.exited;
  }
}

async function fillFiles(anna: AccountClient, fixture: Fixture): Promise<{ sharedId: string }> {
  const put = async (path: string, contents: readonly (string | Uint8Array)[], labels: FileLabels) => {
    const [first = "", ...later] = contents;
    const id = await anna.upload(path, first, labels);
    for (const content of later) await anna.request("PUT", `/api/files/${id}/content`, 200, { body: content });
    const last = contents.at(-1) ?? "";
    fixture.files.push({
      path,
      sha256: digest(last),
      size: Buffer.from(last).length,
      ...labels,
      versions: contents.map(digest),
    });
    return id;
  };
  const sharedId = await put("/Ablage/2024/Brief Änne.txt", ["dear anna", "dear anna,", "dear anna, at last"], {
    tags: ["Post", "wichtig"],
    description: "of the letter, ünïcode",
  });
  await put("/large.bin", [randomBytes(60_000)], { tags: [], description: "" });
  await put("/empty", [""], { tags: [], description: "" });
  await put("/🗂/a/b/c/deep.txt", ["deep"], { tags: ["post"], description: "" });
  for (let index = 0; index < 20; index++) {
    await put(`/many/${index}.txt`, [`number ${index}`], { tags: index % 2 === 0 ? ["even"] : [], description: "" });
  }
  await anna.request("POST", "/api/files/folders", 201, {
    json: { name: "empty folder", path: "/", description: "of it" },
  });
  fixture.folders.push("/Ablage", "/Ablage/2024", "/🗂", "/🗂/a", "/🗂/a/b", "/🗂/a/b/c", "/many", "/empty folder");
  const gone = await anna.upload("/gone.txt", "gone", { tags: ["gone"], description: "" });
  await anna.request("DELETE", `/api/files/${gone}`, 200, {});
  return { sharedId };
}

async function fillDevice(anna: AccountClient, email: string): Promise<string> {
  const deviceInfo = { deviceId: DEVICE, platform: "android", model: "Phone", osVersion: "16", appVersion: "1.0" };
  await anna.request("POST", "/api/mobile/auth/register", 200, { json: { email, password: PASSWORD, deviceInfo } });
  return DEVICE;
}

async function fillSharing(
  anna: AccountClient,
  fixture: Fixture,
  { sharedId }: { sharedId: string },
): Promise<Partial<Fixture>> {
  const trashed = await anna.upload("/trashed.txt", "in the trash", { tags: ["even"], description: "" });
  await anna.request("POST", "/api/files/trash", 200, { json: { fileIds: [trashed] } });
  fixture.trash.push("trashed.txt");
  const share = await anna.request("POST", `/api/files/${sharedId}/shares`, 201, { json: { label: "for bert" } });
  const key = await anna.request("POST", "/api/users/api-keys", 201, {
    json: { name: "script", currentPassword: PASSWORD },
  });
  return { shareToken: textAt(share, "token"), apiKey: textAt(key, "key") };
}

interface FileLabels {
  readonly tags: readonly string[];
  readonly description: string;
}

interface RequestContent {
  readonly body?: string | Uint8Array | FormData;
  readonly json?: unknown;
}

/** Requests as one account. */
class AccountClient {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  /** @returns `data` of the response @throws Error if the status differs */
  async request(method: string, path: string, status: number, { body, json: value }: RequestContent): Promise<unknown> {
    const type = value === undefined ? "application/octet-stream" : "application/json";
    const content = value === undefined ? body : JSON.stringify(value);
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(content !== undefined && !(content instanceof FormData) && { "content-type": type }),
      },
      ...(content !== undefined && { body: content instanceof Uint8Array ? new Uint8Array(content) : content }),
    });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null && "data" in json ? json.data : json;
  }

  /** @returns the id of the new file */
  async upload(path: string, content: string | Uint8Array, { tags, description }: FileLabels): Promise<string> {
    const at = path.lastIndexOf("/");
    const form = new FormData();
    form.append("folder", path.slice(0, at) || "/");
    form.append("tags", tags.join(","));
    form.append("description", description);
    const bytes = new Uint8Array(Buffer.from(content));
    form.append("file", new File([bytes], path.slice(at + 1), { type: "text/plain" }));
    return textAt(await this.request("POST", "/api/files/upload", 201, { body: form }), "id");
  }
}

async function signIn(url: string, email: string): Promise<string> {
  const response = await fetch(`${url}/api/auth/signin`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  return textAt(await response.json(), "token");
}

async function command(source: string, data: string, args: readonly string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, "src/main.ts", ...args, "--password-stdin", "--data", data], {
    cwd: source,
    stdin: new Blob([PASSWORD]),
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error(`larder ${args.join(" ")} failed`);
}

async function readAddress(output: ReadableStream<Uint8Array>): Promise<string> {
  const deadline = AbortSignal.timeout(START_MS_MAX);
  const reader = output.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; !deadline.aborted; ) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    const url = /listening on (http:\S+:\d+)/.exec(text)?.[1];
    if (url === undefined) continue;
    reader.releaseLock();
    return url;
  }
  throw new Error("the server did not start");
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdout: "inherit", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}

function textAt(value: unknown, field: string): string {
  const text: unknown = typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
  if (typeof text !== "string") throw new Error(`no ${field} in ${JSON.stringify(value)}`);
  return text;
}

function digest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
