/**
 * WebDAV: the servers of Apache and rclone on a folder of files, requests by an app password, and their cost.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Larder, runOnLarder } from "./larder.ts";
import { cpuSeconds } from "./measure.ts";
import { freePort, type StartedProcess, startProcess, stopProcess, waitForResponse } from "./processes.ts";
import { NotInstalledError } from "./server.ts";

/** A WebDAV server, or the WebDAV addresses of Larder. */
export interface WebDavServer {
  pid: number;
  /** The address of the folder of all files, with a slash at its end. */
  url: string;
  /** The header Authorization; undefined for a server without accounts. */
  authorization: string | undefined;
  stop(): Promise<void>;
}

/** The properties that rclone, davfs2 and GNOME Files ask for. */
const PROPFIND_BODY =
  '<?xml version="1.0" encoding="utf-8"?><d:propfind xmlns:d="DAV:"><d:prop><d:displayname/><d:getlastmodified/>' +
  "<d:getcontentlength/><d:resourcetype/><d:getetag/></d:prop></d:propfind>";

/** Creates an app password. @returns the header Authorization with it */
export async function authorize(larder: Larder): Promise<string> {
  const printed = await runOnLarder(larder, ["user", "app-password", larder.email, "--name", "bench"]);
  return `Basic ${Buffer.from(`${larder.email}:${printed.trim()}`).toString("base64")}`;
}

/** Larder's WebDAV addresses. Stopping it stops Larder. */
export async function webDavOf(larder: Larder): Promise<WebDavServer> {
  const authorization = await authorize(larder);
  return {
    pid: larder.pid,
    url: `http://${larder.host}:${larder.port}/dav/`,
    authorization,
    stop: () => larder.stop(),
  };
}

/** Starts Apache with mod_dav on a folder of files. @throws NotInstalledError if it is missing */
export async function startApache(directory: string, files: string): Promise<WebDavServer> {
  const apache = Bun.which("apache2", { PATH: `${process.env.PATH ?? ""}:/usr/sbin` });
  const modules = "/usr/lib/apache2/modules";
  if (apache === null || !(await Bun.file(join(modules, "mod_dav.so")).exists())) throw new NotInstalledError();
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const logPath = join(directory, "apache.log");
  const configuration = join(directory, "apache.conf");
  const isRoot = process.getuid?.() === 0;
  // Apache's processes run as a user of their own, who must be able to open the folder.
  if (isRoot) for (const folder of [files, dirname(files)]) chmodSync(folder, 0o755);
  const loaded = ["mpm_event", "authz_core", "dav", "dav_fs"].map(
    (name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`,
  );
  writeFileSync(
    configuration,
    `${loaded.join("\n")}
ServerRoot ${directory}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${directory}/apache.pid
ErrorLog ${logPath}
${isRoot ? "User www-data\nGroup www-data\n" : ""}DocumentRoot ${files}
DavLockDB ${directory}/locks
KeepAlive On
MaxKeepAliveRequests 0
<Directory ${files}>
  Dav On
  Require all granted
</Directory>
`,
  );
  const started = startProcess({ command: [apache, "-f", configuration, "-D", "FOREGROUND"], logPath });
  return ready(started, `http://127.0.0.1:${port}/`, "first.txt", logPath);
}

/** Starts the WebDAV server of rclone on a folder of files. @throws NotInstalledError if it is missing */
export async function startRclone(directory: string, files: string): Promise<WebDavServer> {
  const rclone = Bun.which("rclone");
  if (rclone === null) throw new NotInstalledError();
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const logPath = join(directory, "rclone.log");
  const started = startProcess({
    command: [rclone, "serve", "webdav", files, "--addr", `127.0.0.1:${port}`],
    logPath,
    environment: { RCLONE_CONFIG: "/dev/null" },
  });
  return ready(started, `http://127.0.0.1:${port}/`, "first.txt", logPath);
}

async function ready(started: StartedProcess, url: string, file: string, logPath: string): Promise<WebDavServer> {
  await waitForResponse(started, url + file, {}, logPath);
  return { pid: started.pid, url, authorization: undefined, stop: () => stopProcess(started, 5000) };
}

/** What repeated requests cost. */
export interface PropfindCost {
  /** CPU time of the server for one request in milliseconds. */
  cpuMs: number;
  /** The median duration of a request in milliseconds, with the time to read the response. */
  medianMs: number;
}

/**
 * Lists a folder repeatedly, one request after another.
 *
 * @param path of the folder below the server's, without a slash at the beginning
 * @param entries how many responses there must be; the folder itself is one
 * @throws Error if the response has another number
 */
export async function measurePropfind(
  server: WebDavServer,
  path: string,
  entries: number,
  requests: number,
): Promise<PropfindCost> {
  const before = cpuSeconds(server.pid);
  const durations: number[] = [];
  for (let request = 0; request < requests; request += 1) {
    const startedAt = performance.now();
    const counted = await propfind(server, path);
    durations.push(performance.now() - startedAt);
    if (counted !== entries) throw new Error(`PROPFIND of ${path} listed ${counted} instead of ${entries}`);
  }
  const cpuMs = ((cpuSeconds(server.pid) - before) / requests) * 1000;
  return { cpuMs, medianMs: durations.toSorted((a, b) => a - b)[durations.length >> 1] ?? 0 };
}

/** Lists a folder. @returns the number of listed resources */
export async function propfind(server: WebDavServer, path: string): Promise<number> {
  const headers: Record<string, string> = { Depth: "1", "Content-Type": "application/xml" };
  if (server.authorization !== undefined) headers.Authorization = server.authorization;
  const response = await fetch(server.url + path, { method: "PROPFIND", headers, body: PROPFIND_BODY });
  if (response.status !== 207) throw new Error(`PROPFIND had status ${response.status}: ${await response.text()}`);
  // Counted in pieces, because a long list must not be held by the benchmark either.
  const end = /<\/(?:[A-Za-z]+:)?response>/g;
  let counted = 0;
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    const text = rest + decoder.decode(bytes, { stream: true });
    let last = 0;
    for (const match of text.matchAll(end)) {
      counted += 1;
      last = match.index + match[0].length;
    }
    rest = text.slice(Math.max(last, text.length - 40));
  }
  return counted;
}
