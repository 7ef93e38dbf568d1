/**
 * The floor: the minimum work of a durable file server in Bun. It has no accounts, limits or forms.
 *
 *   POST /files/{folder}/{name}  stream → sha256 → temporary file → fdatasync → rename → fsync of the folder → one row
 *   GET  /files/{id}             the file by sendfile, ranges included
 *   GET  /info/{id}              one prepared query as JSON; a token is checked if one is sent
 *   GET  /profile                the user of a token, by one prepared query, as JSON
 *
 * Files are stored in 256 subfolders by the first byte of their digest, which are created with the first file of
 * {folder}.
 *
 * Usage: bun floor.ts DIRECTORY PORT SECRET
 */
import { Database } from "bun:sqlite";
import { createHmac, timingSafeEqual } from "node:crypto";
import { closeSync, fdatasync, fsync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const syncData = promisify(fdatasync);
const syncFolder = promisify(fsync);

const [root = "", port = "", secret = ""] = process.argv.slice(2);
if (secret === "") throw new Error("usage: floor.ts DIRECTORY PORT SECRET");
mkdirSync(join(root, "temporary"), { recursive: true });

const database = new Database(join(root, "floor.db"), { create: true });
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
database.run(
  `CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL,
    size_bytes INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT`,
);
const insertFile = database.query<{ id: number }, [string, string, string, number, number]>(
  "INSERT INTO files (path, name, digest, size_bytes, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
);
const findPath = database.query<{ path: string }, [number]>("SELECT path FROM files WHERE id = ?");
const findInfo = database.query<Record<string, string | number>, [number]>(
  "SELECT id, name, digest, size_bytes, created_at FROM files WHERE id = ?",
);

database.run(
  "CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL) STRICT",
);
database.run("INSERT INTO users VALUES ('usr_01j9z3k8xq4w7v2m5n6p', 'bench@example.com', 'Bench', 'user')");
const findUser = database.query<Record<string, string>, [string]>(
  "SELECT id, email, name, role FROM users WHERE id = ?",
);

/** Open descriptors of the subfolders, as each fsync needs one. */
const folders = new Map<string, number>();

function prepareFolder(folder: string): void {
  const top = join(root, "files", folder);
  for (let byte = 0; byte < 256; byte += 1) {
    const path = join(top, byte.toString(16).padStart(2, "0"));
    mkdirSync(path, { recursive: true });
    folders.set(path, openSync(path, "r"));
  }
}

/** The user of a bearer token, if it is a JWT signed with SECRET by HS256 that has not expired. */
function userOf(authorization: string): string | undefined {
  const [head = "", claims = "", signature = ""] = authorization.slice("Bearer ".length).split(".");
  const expected = createHmac("sha256", secret).update(`${head}.${claims}`).digest();
  const actual = Buffer.from(signature, "base64url");
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined;
  const { sub, exp }: { sub: string; exp: number } = JSON.parse(Buffer.from(claims, "base64url").toString());
  return exp > Date.now() / 1000 ? sub : undefined;
}

let temporaryCount = 0;

async function receive(request: Request, folder: string, name: string): Promise<Response> {
  const top = join(root, "files", folder);
  if (!folders.has(join(top, "00"))) prepareFolder(folder);
  temporaryCount += 1;
  const temporary = join(root, "temporary", String(temporaryCount));
  const descriptor = openSync(temporary, "wx");
  const hasher = new Bun.CryptoHasher("sha256");
  let sizeBytes = 0;
  for await (const bytes of request.body ?? []) {
    hasher.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    sizeBytes += bytes.length;
  }
  await syncData(descriptor);
  closeSync(descriptor);
  const digest = hasher.digest("hex");
  const final = join(top, digest.slice(0, 2));
  const path = join(final, `${digest}-${temporaryCount}`);
  renameSync(temporary, path);
  await syncFolder(folders.get(final) ?? -1);
  const row = insertFile.get(path, name, digest, sizeBytes, Date.now());
  return Response.json({ id: row?.id, name, digest, size: sizeBytes }, { status: 201 });
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  idleTimeout: 0,
  development: false,
  maxRequestBodySize: 2 ** 40,
  routes: {
    "/": new Response("floor"),
    "/files/:folder/:name": { POST: (request) => receive(request, request.params.folder, request.params.name) },
    "/files/:id": {
      GET: (request) => {
        const row = findPath.get(Number(request.params.id));
        if (row === null) return new Response(null, { status: 404 });
        return new Response(Bun.file(row.path), { headers: { "Content-Type": "application/octet-stream" } });
      },
    },
    "/info/:id": {
      GET: (request) => {
        const authorization = request.headers.get("authorization");
        if (authorization !== null && userOf(authorization) === undefined) return new Response(null, { status: 401 });
        const row = findInfo.get(Number(request.params.id));
        return row === null ? new Response(null, { status: 404 }) : Response.json(row);
      },
    },
    "/profile": {
      GET: (request) => {
        const user = findUser.get(userOf(request.headers.get("authorization") ?? "") ?? "");
        return user === null ? new Response(null, { status: 401 }) : Response.json(user);
      },
    },
  },
});
console.log(`listening on http://127.0.0.1:${server.port}`);
