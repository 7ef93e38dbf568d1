import { dispose, startServer, type TestServer } from "../server.ts";

/** Opens a copy with its own server, and stops it. */
export async function withCopy(dataDir: string, use: (copy: TestServer) => Promise<void>): Promise<void> {
  const copy = await startServer({ dataDir });
  try {
    await use(copy);
  } finally {
    await dispose(copy);
  }
}
