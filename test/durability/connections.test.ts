// Connections that request nothing, and too many connections.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { file, form, formType } from "../support/multipart.ts";
import { sendHalfUpload, RawConnection } from "../support/raw-http.ts";
import { type TestServer, withServer } from "../support/server.ts";

const isLinux = process.platform === "linux";

/** Opens connections that each send the same beginning of a request, or nothing. */
async function openMany(server: TestServer, count: number, beginning: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let from = 0; from < count; from += 500) {
    const group = Array.from({ length: Math.min(500, count - from) }, () => {
      const socket = connect(server.port, "127.0.0.1");
      socket.resume();
      return socket;
    });
    await Promise.all(
      group.map(
        (socket) =>
          new Promise<void>((resolve, reject) => {
            socket.once("error", reject);
            socket.once("connect", () => {
              // The server is expected to close many of them.
              socket.off("error", reject);
              socket.on("error", () => {});
              if (beginning === "") resolve();
              else socket.write(beginning, () => resolve());
            });
          }),
      ),
    );
    sockets.push(...group);
  }
  return sockets;
}

function end(sockets: Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

const beginnings: [string, string][] = [
  ["that send nothing", ""],
  ["that never end their headers", "GET /api/files HTTP/1.1\r\nHost: larder.test\r\nX-Slow: "],
  ["that wait after an answer", "GET /health/live HTTP/1.1\r\nHost: larder.test\r\n\r\n"],
];

test.skipIf(!isLinux).each(beginnings)(
  "with 256 descriptors, 400 connections %s lose nothing and are closed automatically",
  async (_, beginning) => {
    await withServer({ hasAccounts: true, prefix: ["prlimit", "--nofile=256:256"] }, async (server) => {
      const { client, token } = await server.signUp();
      await client.stored("before");
      const { connection, rest } = await sendHalfUpload(server.port, token);
      await client.get("/api/auth/session");
      const crowd = await openMany(server, 400, beginning);
      await eventually(
        "connections are closed",
        () => /The number of connections is below the limit again/.test(server.log),
        45_000,
      );
      const later = await client.stored("after", { name: "after.txt" });
      expectStatus(later, 201);
      // Connections with a request in progress do not count as idle.
      await connection.write(rest);
      expectStatus(await connection.response(), 201);
      expect((await client.names()).toSorted()).toEqual(["after.txt", "file.txt", "slow.txt"]);
      expect(server.log.match(/Too many open connections/g)?.length ?? 0).toBeLessThanOrEqual(3);
      expect(server.log).not.toContain("Uncaught exception");
      end(crowd);
      connection.cut();
      expect(await server.stop()).toBe(0);
    });
  },
  120_000,
);

test.skipIf(!isLinux)(
  "without free descriptors, requests get 503, and succeed a moment later",
  async () => {
    // Uploads failed with "storage_error" and downloads with "unexpected", both 500, which no client retries.
    await withServer({ hasAccounts: true, prefix: ["prlimit", "--nofile=256:256"] }, async (server) => {
      const { client, token } = await server.signUp();
      const id = await client.storedId(randomContent(300_000));
      const head = `Host: larder.test\r\nAuthorization: Bearer ${token}\r\n`;
      const connections = await Promise.all(Array.from({ length: 6 }, () => RawConnection.open(server.port)));
      for (const connection of connections) {
        await connection.write(`GET /api/auth/session HTTP/1.1\r\n${head}\r\n`);
        expectStatus(await connection.response(), 200);
      }
      const crowd = await openMany(server, 400, "GET /api/files HTTP/1.1\r\nX-Slow: ");
      for (const [index, connection] of connections.entries()) {
        const body = form([file("a.bin", randomContent(index < 2 ? 1_000 : 400_000))]);
        const upload = `POST /api/files/upload HTTP/1.1\r\n${head}Content-Type: ${formType}\r\nContent-Length: ${body.length}\r\n\r\n`;
        const download = `GET /api/files/${id}/download HTTP/1.1\r\n${head}\r\n`;
        await connection.write(index < 4 ? Buffer.concat([Buffer.from(upload), body]) : download);
        const response = await connection.response().catch(() => undefined);
        // Closed as idle, rejected with 503, or accepted because a descriptor was free again.
        if (response !== undefined && response.status >= 300) expectError(response, 503, "overloaded");
      }
      // A request on a connection that was just closed as idle gets no response.
      const isTaken = () =>
        client.upload("later", { name: "later.txt" }).then(
          ({ status }) => status === 201,
          () => false,
        );
      await eventually("room", isTaken, 120_000);
      // A thread that started then, for a snapshot for example, ended the whole server.
      expect(server.log).not.toContain("ran out of file descriptors");
      expect(server.log).not.toContain("Uncaught exception");
      end(crowd);
      for (const connection of connections) connection.cut();
    });
  },
  120_000,
);

/** The descriptor limit of this process, which has the other ends of all connections. */
function descriptorLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 0);
}

test.skipIf(!isLinux || descriptorLimit() < 11_000)(
  "with ten thousand idle connections, the server stays fast and small",
  async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      const id = await client.storedId(randomContent(100_000));
      const before = await residentBytes(server);
      const crowd = await openMany(server, 10_000, "GET /health/live HTTP/1.1\r\nHost: larder.test\r\n\r\n");
      const perConnection = ((await residentBytes(server)) - before) / 10_000;
      console.info(`an idle connection takes ${Math.round(perConnection)} bytes`);
      expect(perConnection).toBeLessThan(10_000);
      for (let count = 0; count < 20; count++) {
        expect((await client.get(`/api/files/${id}/download`)).bytes).toHaveLength(100_000);
        expectStatus(await client.stored(`file ${count}`, { name: `${count}.txt` }), 201);
      }
      expect(crowd.filter((socket) => socket.destroyed)).toHaveLength(0);
      end(crowd);
      expect(await server.stop()).toBe(0);
    });
  },
  120_000,
);

test.skipIf(!isLinux)(
  "clients that stop reading use no memory, and get the rest when they continue",
  async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client, token } = await server.signUp();
      const content = randomContent(40_000_000);
      const id = await client.storedId(content);
      const before = await residentBytes(server);
      const request = `GET /api/files/${id}/download HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
      const readers = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const socket = connect(server.port, "127.0.0.1");
          await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
          socket.write(request);
          const first = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
          socket.pause();
          return { socket, first };
        }),
      );
      await client.stored("others continue", { name: "others.txt" });
      expect((await residentBytes(server)) - before).toBeLessThan(60_000_000);
      const [reader] = readers;
      if (reader === undefined) throw new Error("no reader");
      let received = reader.first.length;
      const headBytes = reader.first.indexOf("\r\n\r\n") + 4;
      const done = new Promise<void>((resolve) => reader.socket.once("close", () => resolve()));
      reader.socket.on("data", (bytes) => (received += bytes.length));
      reader.socket.resume();
      await done;
      expect(received - headBytes).toBe(content.length);
      end(readers.map(({ socket }) => socket));
    });
  },
  120_000,
);

test("requests beyond maxRequests are rejected, and accepted again later", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_MAX_REQUESTS: "16" } }, async (server) => {
    const { client, token } = await server.signUp();
    const uploads = await Promise.all(Array.from({ length: 17 }, () => sendHalfUpload(server.port, token)));
    await eventually("the refusal", async () => {
      if ((await client.get("/api/auth/session")).status === 503) return true;
      // This request may have counted when the uploads came, so that two of them were rejected: one more upload fits.
      uploads.push(await sendHalfUpload(server.port, token));
      return false;
    });
    for (const { connection } of uploads) connection.cut();
    await eventually("room again", async () => (await client.get("/api/auth/session")).status === 200);
    const connection = await RawConnection.open(server.port);
    connection.cut();
  });
});

async function residentBytes(server: TestServer): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
