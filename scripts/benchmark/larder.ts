/**
 * Larder as the bench starts it: the built executable, every guard on, an ordinary account whose limits are only high.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, run, type Started, startProcess, stopProcess, waitForResponse } from "./processes.ts";
import { form, getTemplate, type Server } from "./server.ts";

const EMAIL = "bench@example.com";
/** Of the account that the bench makes for itself in a directory that it removes. */
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

/** The limits stay on: each request is counted, only against a number that is never reached. */
const ENVIRONMENT: Record<string, string> = {
  LARDER_PLANS_ENTERPRISE_MAX_FILE_SIZE: String(64 * 2 ** 30),
  LARDER_MASS_CHANGE_FILES: LIMIT,
  LARDER_TRUSTED_PROXIES: "127.0.0.0/8",
  ...Object.fromEntries(CATEGORIES.map((category) => [`LARDER_PLANS_ENTERPRISE_LIMIT_${category}`, LIMIT])),
};

export interface Larder extends Server {
  subject: "larder";
  email: string;
  /** `Authorization` and what else every request carries, each line ended by CRLF. */
  headers: string;
  token: string;
}

export interface LarderOptions {
  executable: string;
  directory: string;
  /** Set where the directory was used before: the account is there and its token still good. */
  token?: string;
}

/**
 * Starts Larder and signs the bench's account in. `startMs` is taken with a token only: without one the account has to
 * be made first, and it is the time to the first answer of /health/live.
 */
export async function startLarder(options: LarderOptions): Promise<Larder> {
  const { executable, directory } = options;
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
    environment: ENVIRONMENT,
  });
  const origin = `http://127.0.0.1:${port}`;
  if (options.token === undefined) await waitForResponse(started, `${origin}/health/live`, {}, logPath);
  else await waitForResponse(started, `${origin}/api/files?limit=20`, bearer(options.token), logPath);
  const startMs = performance.now() - startedAt;
  const token = options.token ?? (await makeAccount(executable, data));
  return describe(started, { port, directory, startMs, token });
}

function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

async function makeAccount(executable: string, data: string): Promise<string> {
  const environment = { ...ENVIRONMENT, LARDER_DATA: data };
  await run(
    [executable, "user", "add", EMAIL, "--plan", "enterprise", "--password-stdin"],
    `${PASSWORD}\n`,
    environment,
  );
  return (await run([executable, "user", "token", EMAIL], "", environment)).trim();
}

interface Place {
  port: number;
  directory: string;
  startMs: number;
  token: string;
}

function describe(started: Started, place: Place): Larder {
  const headers = `Authorization: Bearer ${place.token}\r\n`;
  return {
    subject: "larder",
    pid: started.pid,
    host: "127.0.0.1",
    ...place,
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
    downloadTemplate: (answer, _, more = "") =>
      getTemplate(`/api/files/${fileId(answer.body)}/download`, `${headers}${more}`),
    infoTemplate: (answer) => getTemplate(`/api/files/${fileId(answer.body)}`, headers),
    signedInfoTemplate: (answer) => getTemplate(`/api/files/${fileId(answer.body)}`, headers),
    stop: () => stopProcess(started),
  };
}

/** The id in an upload's answer. */
export function fileId(body: string): string {
  const id = /"id":"(file_[^"]+)"/.exec(body)?.[1];
  if (id === undefined) throw new Error(`no file id in the answer to an upload: ${body.slice(0, 300)}`);
  return id;
}
