/**
 * The interface of a measured server, and the baselines without accounts: the floor and nginx.
 */
import { createHmac } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedResponse, RequestTemplate } from "./job.ts";
import { freePort, startProcess, stopProcess, waitForResponse } from "./processes.ts";

/**
 * What a figure compares: Larder; the baselines "floor" and "nginx"; sharp alone; the WebDAV servers "apache" and
 * "rclone"; the tus server of its authors ("tus"); Larder's own API ("api"); "cp", which copies files; and an earlier
 * executable of Larder ("before").
 */
export const SUBJECTS = [
  "larder",
  "floor",
  "nginx",
  "sharp",
  "apache",
  "rclone",
  "tus",
  "api",
  "cp",
  "before",
] as const;

export type Subject = (typeof SUBJECTS)[number];

export interface Upload {
  /** One path segment, new in each round: ext4 is slow for a while in folders from which many files were removed. */
  folder: string;
  body: { random: number } | { file: string };
  /** The file name; `########` in it is replaced by the request's number. */
  name: string;
  mediaType?: string;
  /**
   * The body for a server without forms: the whole form, for the same number of sent bytes, or only the file content,
   * so that the same file can be downloaded.
   */
  rawAs: "form" | "content";
}

export interface Server {
  subject: Subject;
  pid: number;
  host: string;
  port: number;
  /** The directory of its data, whose file system is synced. */
  directory: string;
  /** Milliseconds from the start of the process to its first response with status 200. */
  startMs: number;
  uploadTemplate(upload: Upload): RequestTemplate;
  /** A request for the content that `response` acknowledged, with further header lines. */
  downloadTemplate(response: RecordedResponse, upload: Upload, headers?: string): RequestTemplate;
  /** A request for the file's metadata; undefined if the server has none. */
  infoTemplate(response: RecordedResponse): RequestTemplate | undefined;
  /** A request for the file's metadata with a token; undefined if the server can't check one. */
  signedInfoTemplate(response: RecordedResponse): RequestTemplate | undefined;
  /** A request for the profile of a token's user; undefined if the server has no users. */
  profileTemplate(): RequestTemplate | undefined;
  stop(): Promise<void>;
}

const BOUNDARY = "----larder-benchmark-4f9d2c1b7a";

/** The beginning and end of a form with a folder and one file. */
export function form(upload: Upload, folderPath: string): { prefix: string; suffix: string; contentType: string } {
  return {
    prefix:
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="folder"\r\n\r\n${folderPath}\r\n` +
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${upload.name}"\r\n` +
      `Content-Type: ${upload.mediaType ?? "application/octet-stream"}\r\n\r\n`,
    suffix: `\r\n--${BOUNDARY}--\r\n`,
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
  };
}

function rawUpload(method: string, path: string, upload: Upload): RequestTemplate {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n`;
  if (upload.rawAs === "content") return { head, body: upload.body };
  const { prefix, suffix } = form(upload, `/${upload.folder}`);
  return { head, prefix, body: upload.body, suffix };
}

/** A GET request for a path. */
export function getTemplate(path: string, headers = ""): RequestTemplate {
  return { head: `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}` };
}

function field(response: RecordedResponse, name: string): string {
  const value: unknown = JSON.parse(response.body);
  const found = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return String(found.find(([key]) => key === name)?.[1]);
}

/** Protects nothing; the floor only does the work of the check. */
const FLOOR_SECRET = "secret-of-the-floor";

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

function floorToken(): string {
  const exp = Math.floor(Date.now() / 1000) + 86_400;
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ sub: "usr_01j9z3k8xq4w7v2m5n6p", exp })}`;
  return `${signed}.${createHmac("sha256", FLOOR_SECRET).update(signed).digest("base64url")}`;
}

/** Starts the floor on an empty directory. */
export async function startFloor(directory: string, bun: string): Promise<Server> {
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const logPath = join(directory, "floor.log");
  const startedAt = performance.now();
  const started = startProcess({
    command: [bun, join(import.meta.dir, "floor.ts"), join(directory, "data"), String(port), FLOOR_SECRET],
    logPath,
  });
  await waitForResponse(started, `http://127.0.0.1:${port}/`, {}, logPath);
  return {
    subject: "floor",
    pid: started.pid,
    host: "127.0.0.1",
    port,
    directory,
    startMs: performance.now() - startedAt,
    uploadTemplate: (upload) => rawUpload("POST", `/files/${upload.folder}/${upload.name}`, upload),
    downloadTemplate: (response, _, headers) => getTemplate(`/files/${field(response, "id")}`, headers),
    infoTemplate: (response) => getTemplate(`/info/${field(response, "id")}`),
    signedInfoTemplate: (response) =>
      getTemplate(`/info/${field(response, "id")}`, `Authorization: Bearer ${floorToken()}\r\n`),
    profileTemplate: () => getTemplate("/profile", `Authorization: Bearer ${floorToken()}\r\n`),
    stop: () => stopProcess(started, 5000),
  };
}

/** Starts nginx with its DAV module on an empty directory. @throws NotInstalledError if nginx is missing */
export async function startNginx(directory: string): Promise<Server> {
  const nginx = Bun.which("nginx", { PATH: `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin` });
  if (nginx === null) throw new NotInstalledError();
  mkdirSync(join(directory, "data"), { recursive: true });
  const port = await freePort();
  const logPath = join(directory, "nginx.log");
  const configuration = join(directory, "nginx.conf");
  writeFileSync(
    configuration,
    `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 2;
pid ${directory}/nginx.pid;
error_log ${logPath};
events { worker_connections 256; }
http {
  access_log off;
  sendfile on;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  client_body_temp_path ${directory}/temporary;
  proxy_temp_path ${directory}/unused-proxy;
  fastcgi_temp_path ${directory}/unused-fastcgi;
  uwsgi_temp_path ${directory}/unused-uwsgi;
  scgi_temp_path ${directory}/unused-scgi;
  server {
    listen 127.0.0.1:${port};
    root ${directory}/data;
    dav_methods PUT;
    create_full_put_path on;
    location = / { return 200 "nginx"; }
  }
}
`,
  );
  const startedAt = performance.now();
  const started = startProcess({ command: [nginx, "-c", configuration, "-e", logPath], logPath });
  await waitForResponse(started, `http://127.0.0.1:${port}/`, {}, logPath);
  return {
    subject: "nginx",
    pid: started.pid,
    host: "127.0.0.1",
    port,
    directory,
    startMs: performance.now() - startedAt,
    uploadTemplate: (upload) => rawUpload("PUT", `/${upload.folder}/${upload.name}`, upload),
    downloadTemplate: (response, upload, headers) => {
      const name = upload.name.replaceAll("########", response.number.toString(16).padStart(8, "0"));
      return getTemplate(`/${upload.folder}/${name}`, headers);
    },
    infoTemplate: () => undefined,
    signedInfoTemplate: () => undefined,
    profileTemplate: () => undefined,
    stop: () => stopProcess(started, 5000),
  };
}

/** A baseline is not installed on this machine. The table says so, and the run doesn't fail. */
export class NotInstalledError extends Error {
  constructor() {
    super("not installed");
  }
}
