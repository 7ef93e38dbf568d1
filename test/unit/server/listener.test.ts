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

test("after a certificate was replaced, older connections close with their next response", async () => {
  // Once they stayed open for two minutes and were then cut, which lost requests just sent on them.
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

test("a new certificate that can't be read is logged once, and loaded as soon as it can be read", async () => {
  // Once, a folder that the server may not read threw in a timer, and a later fix of its mode was not noticed.
  const [certFile, keyFile] = [join(directory, "certificate.pem"), join(directory, "key.pem")];
  copyFileSync(join(fixtures, "certificate.pem"), certFile);
  copyFileSync(join(fixtures, "key.pem"), keyFile);
  const logged: string[] = [];
  const { config } = loadConfig({
    flags: { data: join(directory, "data"), port: "0", host: "127.0.0.1" },
    environment: { LARDER_TLS_CERT_FILE: certFile, LARDER_TLS_KEY_FILE: keyFile },
  });
  const listener = await Listener.open({
    config,
    log: { ...silentLog, error: (message, details) => logged.push(`${message} ${String(details?.["error"])}`) },
    clock: systemClock,
    fetch: () => new Response(),
    error: () => new Response(),
  });
  try {
    const before = listener.certificateEndsMs;
    unlinkSync(certFile);
    // Like a folder without execute permission: stat of the file fails.
    symlinkSync(certFile, certFile);
    for (let look = 0; look < 3; look++) listener.reloadCertificate();
    expect(logged).toEqual([expect.stringContaining(certFile)]);
    unlinkSync(certFile);
    copyFileSync(join(fixtures, "renewed-certificate.pem"), certFile);
    for (let look = 0; look < 3; look++) listener.reloadCertificate();
    expect(logged).toHaveLength(2);
    expect(listener.certificateEndsMs).toBe(before);
    // A fix may leave the file's time unchanged: chmod does.
    const { atime, mtime, size } = statSync(keyFile);
    const renewed = readFileSync(join(fixtures, "renewed-key.pem"));
    expect(renewed.length).toBe(size);
    writeFileSync(keyFile, renewed);
    utimesSync(keyFile, atime, mtime);
    listener.reloadCertificate();
    expect(listener.certificateEndsMs).not.toBe(before);
    expect(logged).toHaveLength(2);
  } finally {
    await listener.cut();
  }
});
