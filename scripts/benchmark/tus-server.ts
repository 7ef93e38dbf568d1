/**
 * The tus server of the protocol's authors (@tus/server), as a baseline. It is no dependency of Larder, so it is
 * installed for the run, in the directory of its data.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, run, startProcess, stopProcess, waitForResponse } from "./processes.ts";
import { NotInstalledError, type Server } from "./server.ts";

const PACKAGES = { "@tus/server": "2.4.5", "@tus/file-store": "2.1.1" };

const PROGRAM = `
import { createServer } from "node:http";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";

const [directory, port] = process.argv.slice(2);
const tus = new Server({ path: "/files", datastore: new FileStore({ directory }) });
createServer((request, response) => {
  if (request.url === "/") response.end("tus");
  else tus.handle(request, response);
}).listen(Number(port), "127.0.0.1");
`;

/** Starts the server on an empty directory. @throws NotInstalledError without Node.js or the package registry */
export async function startTusServer(directory: string): Promise<Server> {
  const node = Bun.which("node");
  const npm = Bun.which("npm");
  if (node === null || npm === null) throw new NotInstalledError();
  mkdirSync(join(directory, "data"), { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, dependencies: PACKAGES }));
  writeFileSync(join(directory, "server.mjs"), PROGRAM);
  const install = [npm, "install", "--prefix", directory, "--ignore-scripts", "--no-audit", "--no-fund"];
  await run(install).catch(() => {
    throw new NotInstalledError();
  });
  const port = await freePort();
  const logPath = join(directory, "tus.log");
  const startedAt = performance.now();
  const command = [node, join(directory, "server.mjs"), join(directory, "data"), String(port)];
  const started = startProcess({ command, logPath, directory });
  await waitForResponse(started, `http://127.0.0.1:${port}/`, {}, logPath);
  return {
    subject: "tus",
    pid: started.pid,
    host: "127.0.0.1",
    port,
    directory,
    startMs: performance.now() - startedAt,
    uploadTemplate: () => {
      throw new Error("an upload by tus is more than one request");
    },
    downloadTemplate: (_, upload) => {
      throw new Error(`the tus server sends no files, such as ${upload.name}`);
    },
    infoTemplate: () => undefined,
    signedInfoTemplate: () => undefined,
    profileTemplate: () => undefined,
    stop: () => stopProcess(started, 5000),
  };
}
