import { afterAll, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { loadConfig } from "../../../src/config/load.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { Listener } from "../../../src/server/net/listener.ts";

const fixtures = join(import.meta.dir, "../../fixtures/tls");
const directory = mkdtempSync(join(tmpdir(), "larder-test-listener-"));
afterAll(() => rmSync(directory, { recursive: true }));

test("once a certificate was replaced, connections of before end with their next answer", async () => {
  // They were kept for two minutes, then cut: a request that was just sent on one was lost.
  const [certFile, keyFile] = [join(directory, "first.pem"), join(directory, "first-key.pem")];
  copyFileSync(join(fixtures, "certificate.pem"), certFile);
  copyFileSync(join(fixtures, "key.pem"), keyFile);
  const { config } = loadConfig({
    flags: { data: join(directory, "data"), port: "0", host: "127.0.0.1" },
    environment: { LARDER_TLS_CERT_FILE: certFile, LARDER_TLS_KEY_FILE: keyFile },
  });
  const fetch = async () => new Response("answer");
  const listener = await Listener.open({
    config,
    log: silentLog,
    clock: systemClock,
    fetch,
    error: () => new Response(),
  });
  const socket = connect({ port: listener.port, host: "127.0.0.1", rejectUnauthorized: false });
  try {
    const ask = async () => {
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      const [response]: unknown[] = await once(socket, "data");
      return String(response).toLowerCase().includes("connection: close");
    };
    await once(socket, "secureConnect");
    expect(await ask()).toBe(false);
    copyFileSync(join(fixtures, "renewed-certificate.pem"), certFile);
    copyFileSync(join(fixtures, "renewed-key.pem"), keyFile);
    listener.reloadCertificate(true);
    const closed = once(socket, "close");
    expect(await ask()).toBe(true);
    await closed;
  } finally {
    socket.destroy();
    await listener.cut();
  }
});

test("a new certificate that can't be read is told of once, and taken as soon as it can be", async () => {
  // A renewal that left a folder closed to the server threw in a timer; one whose rights were mended later was never read.
  const [certFile, keyFile] = [join(directory, "certificate.pem"), join(directory, "key.pem")];
  copyFileSync(join(fixtures, "certificate.pem"), certFile);
  copyFileSync(join(fixtures, "key.pem"), keyFile);
  const told: string[] = [];
  const { config } = loadConfig({
    flags: { data: join(directory, "data"), port: "0", host: "127.0.0.1" },
    environment: { LARDER_TLS_CERT_FILE: certFile, LARDER_TLS_KEY_FILE: keyFile },
  });
  const listener = await Listener.open({
    config,
    log: { ...silentLog, error: (message, details) => told.push(`${message} ${String(details?.["error"])}`) },
    clock: systemClock,
    fetch: () => new Response(),
    error: () => new Response(),
  });
  try {
    const before = listener.certificateEndsMs;
    unlinkSync(certFile);
    // As a folder that may not be entered: looking at the file fails.
    symlinkSync(certFile, certFile);
    for (let look = 0; look < 3; look++) listener.reloadCertificate();
    expect(told).toEqual([expect.stringContaining(certFile)]);
    unlinkSync(certFile);
    copyFileSync(join(fixtures, "renewed-certificate.pem"), certFile);
    for (let look = 0; look < 3; look++) listener.reloadCertificate();
    expect(told).toHaveLength(2);
    expect(listener.certificateEndsMs).toBe(before);
    // What is mended may leave the file's time as it was: chmod does.
    const { atime, mtime, size } = statSync(keyFile);
    const renewed = readFileSync(join(fixtures, "renewed-key.pem"));
    expect(renewed.length).toBe(size);
    writeFileSync(keyFile, renewed);
    utimesSync(keyFile, atime, mtime);
    listener.reloadCertificate();
    expect(listener.certificateEndsMs).not.toBe(before);
    expect(told).toHaveLength(2);
  } finally {
    await listener.cut();
  }
});
