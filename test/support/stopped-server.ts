// Servers that begin stopped, each on a copy of data that one server of the test file left: for commands that need no server,
// and for tests that all begin with the same files.
import { afterAll } from "bun:test";
import { cp, rm } from "node:fs/promises";
import { type Account, Client } from "./client.ts";
import { dispose, temporaryDirectory, TestServer, withServer } from "./server.ts";

/** Gives a test a server that was stopped, an account of it, and what was noted when its data was made. */
export type WithStopped<T> = (use: (server: TestServer, account: Account, made: T) => Promise<void>) => Promise<void>;

/**
 * Data of one account, made at its first use. What a server leaves at a clean stop opens elsewhere as it is.
 *
 * @param fill puts it there
 */
export function stoppedServer<T>(fill: (account: Account, server: TestServer) => Promise<T>): WithStopped<T> {
  const folders: string[] = [];
  let first: Promise<{ dataDir: string; account: Account; made: T }> | undefined;
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });
  const make = async () => {
    const dataDir = await temporaryDirectory();
    folders.push(dataDir);
    return withServer({ dataDir }, async (server) => {
      const account = await server.signUp();
      const made = await fill(account, server);
      await server.stop();
      return { dataDir, account, made };
    });
  };
  return async (use) => {
    first ??= make();
    const { dataDir, account, made } = await first;
    const server = new TestServer(await temporaryDirectory(), {});
    try {
      await cp(dataDir, server.dataDir, { recursive: true, preserveTimestamps: true });
      await use(server, { ...account, client: new Client(server, account.token) }, made);
    } finally {
      await dispose(server);
    }
  };
}
