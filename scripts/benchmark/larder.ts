/**
 * Starts the built executable with all checks on, and an ordinary account with high limits.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, run, type StartedProcess, startProcess, stopProcess, waitForResponse } from "./processes.ts";
import { form, getTemplate, type Server } from "./server.ts";

const EMAIL = "bench@example.com";
/** The password of the account, which exists only in a directory that the benchmark removes. */
export const PASSWORD = "a-password-for-the-bench";
const LIMIT = "1000000000";
const CATEGORIES = [
  "SIGNIN",
  "SIGNUP",
  "REFRESH",
  "UPLOADS",
  "DOWNLOADS",
  "LISTING",
  "OPERATIONS",
  "PROFILE",
  "USAGE",
  "SYNC",
  "GENERAL",
];

/** The limits stay on, but are never reached: each request is still counted. */
const ENVIRONMENT: Record<string, string> = {
  LARDER_PLANS_ENTERPRISE_MAX_FILE_SIZE: String(64 * 2 ** 30),
  LARDER_MASS_CHANGE_FILES: LIMIT,
  LARDER_TRUSTED_PROXIES: "127.0.0.0/8",
  ...Object.fromEntries(CATEGORIES.map((category) => [`LARDER_PLANS_ENTERPRISE_LIMIT_${category}`, LIMIT])),
};

/** The measured executable, and in a comparison the earlier one. */
export type LarderSubject = "larder" | "before";

export interface Larder extends Server {
  subject: LarderSubject;
  executable: string;
  email: string;
  /** Header lines for every request, each with CRLF. */
  headers: string;
  token: string;
}

export interface LarderOptions {
  subject: LarderSubject;
  executable: string;
  directory: string;
  /** Settings of the server in addition to those of all rows. */
  environment?: Record<string, string>;
  /** The valid token of an account that already exists in the directory. */
  token?: string;
}

/**
 * Starts Larder and signs in. With a token, `startMs` is the time to the first listing. Without one, the account has to
 * be created first, and `startMs` is the time to the first response of /health/live.
 */
export async function startLarder(options: LarderOptions): Promise<Larder> {
  const { subject, executable, directory } = options;
  mkdirSync(directory, { recursive: true });
  if (!(await Bun.file(executable).exists())) throw new Error(`${executable} is missing: run scripts/build`);
  const data = join(directory, "data");
  const port = await freePort();
  const logPath = join(directory, "larder.log");
  const startedAt = performance.now();
  const started = startProcess({
    command: [executable, "serve", "--data", data, "--host", "127.0.0.1", "--port", String(port)],
    logPath,
    directory,
    environment: { ...ENVIRONMENT, ...options.environment },
  });
  const origin = `http://127.0.0.1:${port}`;
  if (options.token === undefined) await waitForResponse(started, `${origin}/health/live`, {}, logPath);
  else await waitForResponse(started, `${origin}/api/files?limit=20`, bearer(options.token), logPath);
  const startMs = performance.now() - startedAt;
  const token = options.token ?? (await createAccount(executable, data));
  return createServer(started, { subject, executable, port, directory, startMs, token });
}

function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

async function createAccount(executable: string, data: string): Promise<string> {
  const environment = { ...ENVIRONMENT, LARDER_DATA: data };
  await run(
    [executable, "user", "add", EMAIL, "--plan", "enterprise", "--password-stdin"],
    `${PASSWORD}\n`,
    environment,
  );
  return (await run([executable, "user", "token", EMAIL], "", environment)).trim();
}

/** Runs a command of Larder on the data directory of a server. @returns what it printed */
export async function runOnLarder({ executable, directory }: Larder, words: string[], input = ""): Promise<string> {
  return run([executable, ...words], input, { ...ENVIRONMENT, LARDER_DATA: join(directory, "data") });
}

interface Instance {
  subject: LarderSubject;
  executable: string;
  port: number;
  directory: string;
  startMs: number;
  token: string;
}

function createServer(started: StartedProcess, instance: Instance): Larder {
  const headers = `Authorization: Bearer ${instance.token}\r\n`;
  return {
    pid: started.pid,
    host: "127.0.0.1",
    ...instance,
    email: EMAIL,
    headers,
    uploadTemplate: (upload) => {
      const { prefix, suffix, contentType } = form(upload, `/${upload.folder}`);
      return {
        head: `POST /api/files/upload HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}Content-Type: ${contentType}\r\n`,
        prefix,
        body: upload.body,
        suffix,
      };
    },
    downloadTemplate: (response, _, moreHeaders = "") =>
      getTemplate(`/api/files/${fileId(response.body)}/download`, `${headers}${moreHeaders}`),
    infoTemplate: (response) => getTemplate(`/api/files/${fileId(response.body)}`, headers),
    signedInfoTemplate: (response) => getTemplate(`/api/files/${fileId(response.body)}`, headers),
    profileTemplate: () => getTemplate("/api/users/profile", headers),
    stop: () => stopProcess(started),
  };
}

export function isLarder(server: Server): server is Larder {
  return server.subject === "larder" || server.subject === "before";
}

/** Reads the file id from the response to an upload. */
export function fileId(body: string): string {
  const id = /"id":"(file_[^"]+)"/.exec(body)?.[1];
  if (id === undefined) throw new Error(`no file id in the response to an upload: ${body.slice(0, 300)}`);
  return id;
}
