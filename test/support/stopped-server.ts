// Stopped servers, each with a copy of the data that one server of the test file left. For commands that need no
// server, and for tests that all start with the same files.
import { afterAll } from "bun:test";
import { cp, rm } from "node:fs/promises";
import { type Account, Client } from "./client.ts";
import { dispose, temporaryDirectory, TestServer, withServer } from "./server.ts";

/** Gives a test a stopped server, its account, and the result of `fill`. */
export type WithStopped<T> = (use: (server: TestServer, account: Account, filled: T) => Promise<void>) => Promise<void>;

/**
 * Prepares data of one account at the first use. After a clean stop, the data directory opens unchanged at another
 * path.
 *
 * @param fill creates the files
 */
export function stoppedServer<T>(fill: (account: Account, server: TestServer) => Promise<T>): WithStopped<T> {
  const folders: string[] = [];
  let first: Promise<{ dataDir: string; account: Account; filled: T }> | undefined;
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });
  const make = async () => {
    const dataDir = await temporaryDirectory();
    folders.push(dataDir);
    return withServer({ dataDir }, async (server) => {
      const account = await server.signUp();
      const filled = await fill(account, server);
      await server.stop();
      return { dataDir, account, filled };
    });
  };
  return async (use) => {
    first ??= make();
    const { dataDir, account, filled } = await first;
    const server = new TestServer(await temporaryDirectory(), {});
    try {
      await cp(dataDir, server.dataDir, { recursive: true, preserveTimestamps: true });
      await use(server, { ...account, client: new Client(server, account.token) }, filled);
    } finally {
      await dispose(server);
    }
  };
}
