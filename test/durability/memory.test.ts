import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { boundary, formType } from "../support/multipart.ts";
import { RawConnection } from "../support/raw-http.ts";
import { type TestServer, withServer } from "../support/server.ts";

const mebibyte = 1024 * 1024;

/** A value of /proc/PID/status in bytes. */
async function memory(server: TestServer, name: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** Uploads a number of mebibytes in a form. @returns the digest and the id */
async function uploadLarge(
  server: TestServer,
  token: string,
  sizeMiB: number,
  host: string,
): Promise<{ id: string; digest: string }> {
  const buffer = randomContent(mebibyte);
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const hash = createHash("sha256");
  const connection = await RawConnection.open(server.port);
  await connection.write(
    `POST /api/files/upload HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${formType}\r\n` +
      `Content-Length: ${head.length + sizeMiB * mebibyte + tail.length}\r\n\r\n${head}`,
  );
  for (let index = 0; index < sizeMiB; index++) {
    buffer[0] = index % 256;
    hash.update(buffer);
    await connection.write(buffer);
  }
  await connection.write(tail);
  const apiResponse = await connection.response();
  connection.cut();
  expectStatus(apiResponse, 201);
  return { id: apiResponse.string("data.id"), digest: hash.digest("hex") };
}

// "x": a host too short for the router; its requests were once buffered completely in memory.
test.skipIf(process.platform !== "linux").each(["larder.test", "x"])(
  "memory does not grow with the size of an upload or a download, requested as %s",
  async (host) => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { token } = await server.signUp();
      await uploadLarge(server, token, 16, host);
      const idle = await memory(server, "VmRSS");
      await writeFile(`/proc/${server.pid}/clear_refs`, "5");
      const { id, digest } = await uploadLarge(server, token, 200, host);
      expect((await memory(server, "VmHWM")) - idle).toBeLessThan(64 * mebibyte);

      await writeFile(`/proc/${server.pid}/clear_refs`, "5");
      const response = await fetch(`${server.url}/api/files/${id}/download`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const hash = createHash("sha256");
      for await (const bytes of response.body ?? []) hash.update(bytes);
      expect(hash.digest("hex")).toBe(digest);
      expect((await memory(server, "VmHWM")) - idle).toBeLessThan(64 * mebibyte);
    });
  },
  120_000,
);
