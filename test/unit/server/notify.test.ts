// Messages to a service manager, over a real socket. Bun can't open that kind of socket, so a Python program listens.
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../../src/lib/log.ts";
import { openNotifier } from "../../../src/server/net/notify.ts";

const LISTENER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
s.bind("\\0" + name[1:] if name.startswith("@") else name)
print("bound", flush=True)
while True:
    print(s.recv(4096).decode().replace("\\n", " | "), flush=True)
`;
const python = Bun.which("python3");
const folder = mkdtempSync(join(tmpdir(), "larder-notify-"));
const children: Bun.Subprocess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill();
});

process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Listens like systemd does. */
async function listen(name: string) {
  const child = Bun.spawn([python ?? "python3", "-c", LISTENER, name], { stdout: "pipe", stderr: "inherit" });
  children.push(child);
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async () => {
    while (!text.includes("\n")) {
      // oxlint-disable-next-line no-await-in-loop -- a stream has an order
      const { value, done } = await lines.read();
      if (done) throw new Error("the listener ended");
      text += value;
    }
    const [line = "", ...rest] = text.split("\n");
    text = rest.join("\n");
    return line;
  };
  expect(await next()).toBe("bound");
  return next;
}

function logging() {
  const lines: string[] = [];
  return { log: createLog("json", "debug", (line) => lines.push(line)), lines };
}

describe.skipIf(python === null)("over a socket", () => {
  for (const name of [join(folder, "notify.sock"), `@larder-test-${process.pid}`]) {
    test(`${name.startsWith("@") ? "an abstract name" : "a path"} receives each state`, async () => {
      const next = await listen(name);
      const { log, lines } = logging();
      const environment = { NOTIFY_SOCKET: name, OTHER: "kept" };
      const notifier = await openNotifier(environment, log);
      expect(environment).toEqual({ OTHER: "kept" } as typeof environment);
      notifier.extend(2_000);
      notifier.status("two\nlines");
      notifier.ready("Listening.");
      notifier.stopping(30_000);
      expect([await next(), await next(), await next(), await next()]).toEqual([
        "EXTEND_TIMEOUT_USEC=2000000",
        "STATUS=two lines",
        `READY=1 | MAINPID=${process.pid} | STATUS=Listening.`,
        "STOPPING=1 | EXTEND_TIMEOUT_USEC=30000000 | STATUS=Finishing running requests.",
      ]);
      expect(lines).toEqual([]);
    });
  }

  test("the watchdog is pinged only while the server is healthy", async () => {
    const name = join(folder, "watchdog.sock");
    const next = await listen(name);
    const { log, lines } = logging();
    const notifier = await openNotifier(
      { NOTIFY_SOCKET: name, WATCHDOG_USEC: "20000", WATCHDOG_PID: String(process.pid) },
      log,
    );
    let isWell = true;
    let looks = 0;
    const failed = Promise.withResolvers<void>();
    notifier.watch(() => {
      looks++;
      if (isWell) return;
      failed.resolve();
      throw new Error("the database is gone");
    });
    expect([await next(), await next()]).toEqual(["WATCHDOG=1", "WATCHDOG=1"]);
    isWell = false;
    await failed.promise;
    notifier.close();
    const looked = looks;
    await new Promise((done) => setTimeout(done, 50));
    expect(looks).toBe(looked);
    expect(lines.join("")).toContain("the database is gone");
  });

  test("a socket without a listener causes a warning and no failure", async () => {
    const { log, lines } = logging();
    const notifier = await openNotifier({ NOTIFY_SOCKET: join(folder, "nobody.sock") }, log);
    notifier.ready("Listening.");
    expect(lines.join("")).toContain("Could not send the status to systemd");
  });
});

test("without a service manager nothing is sent, and another process's watchdog is ignored", async () => {
  const { log, lines } = logging();
  const sent: string[] = [];
  const make = () => Promise.resolve((message: string) => void sent.push(message));
  const silent = await openNotifier({}, log, make);
  silent.ready("x");
  const foreign = await openNotifier({ NOTIFY_SOCKET: "/x", WATCHDOG_USEC: "1000", WATCHDOG_PID: "1" }, log, make);
  foreign.watch(() => {});
  const vsock = await openNotifier({ NOTIFY_SOCKET: "vsock:2:1" }, log, make);
  vsock.ready("x");
  expect([sent, lines]).toEqual([[], []]);
});
