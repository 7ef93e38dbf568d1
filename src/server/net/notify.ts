/**
 * Reports the state of the server to a service manager with the protocol of sd_notify(3): datagrams to the socket in
 * NOTIFY_SOCKET. systemd sets it for services of `Type=notify`; container engines pass it on. Bun has no such sockets,
 * so this module uses the C library, and loads it only if NOTIFY_SOCKET is set.
 */
import type { Log } from "../../lib/log.ts";

/** Reports to the service manager. Without one, every call does nothing. */
export interface Notifier {
  /** Reports what the server is doing; `systemctl status` shows the text. */
  status(text: string): void;
  /** Reports that the server accepts requests. */
  ready(text: string): void;
  /** Reports that the server is stopping, and how long it may take. */
  stopping(ms: number): void;
  /** Requests more time to start. */
  extend(ms: number): void;
  /**
   * Starts the watchdog pings, two in each interval of the manager, unless `check` throws. If the pings stop, also
   * because the event loop hangs, the manager restarts the server.
   */
  watch(check: () => void): void;
  /** Stops the watchdog pings. */
  close(): void;
}

/** Sends one datagram. @throws Error with the reason if the system rejects it */
type SendDatagram = (message: string) => void;

const SILENT: Notifier = {
  status() {},
  ready() {},
  stopping() {},
  extend() {},
  watch() {},
  close() {},
};

/**
 * Connects to the manager named in the environment. Removes its variables from the environment: child processes must
 * not use them.
 * @param makeSend opens a socket for datagrams; replaced in tests
 */
export async function openNotifier(
  environment: Record<string, string | undefined>,
  log: Log,
  makeSend: (socket: string) => Promise<SendDatagram> = openDatagrams,
): Promise<Notifier> {
  const socket = environment["NOTIFY_SOCKET"];
  const watchdogMs = watchdogInterval(environment);
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete environment[name];
  // The protocol has other kinds of sockets, such as vsock. They are not supported.
  if (socket === undefined || !/^[/@]./.test(socket)) return SILENT;
  try {
    return new SocketNotifier(await makeSend(socket), watchdogMs, log);
  } catch (error) {
    log.warn("Cannot notify systemd; use Type=exec in the unit.", { error });
    return SILENT;
  }
}

/** The interval of the manager's watchdog; undefined if it has none for this process. */
function watchdogInterval(environment: Record<string, string | undefined>): number | undefined {
  const microseconds = Number(environment["WATCHDOG_USEC"]);
  const pid = environment["WATCHDOG_PID"];
  const isOurs = pid === undefined || Number(pid) === process.pid;
  return isOurs && microseconds > 0 ? microseconds / 1000 : undefined;
}

class SocketNotifier implements Notifier {
  readonly #send: SendDatagram;
  readonly #watchdogMs: number | undefined;
  readonly #log: Log;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(send: SendDatagram, watchdogMs: number | undefined, log: Log) {
    this.#send = send;
    this.#watchdogMs = watchdogMs;
    this.#log = log;
  }

  status(text: string): void {
    this.#notify(`STATUS=${oneLine(text)}`);
  }

  ready(text: string): void {
    this.#notify(`READY=1\nMAINPID=${process.pid}\nSTATUS=${oneLine(text)}`);
  }

  stopping(ms: number): void {
    this.#notify(`STOPPING=1\nEXTEND_TIMEOUT_USEC=${ms * 1000}\nSTATUS=Finishing running requests.`);
  }

  extend(ms: number): void {
    this.#notify(`EXTEND_TIMEOUT_USEC=${ms * 1000}`);
  }

  watch(check: () => void): void {
    clearInterval(this.#timer);
    if (this.#watchdogMs === undefined) return;
    const ping = () => {
      try {
        check();
        this.#notify("WATCHDOG=1");
      } catch (error) {
        this.#log.error("Could not send the systemd watchdog ping; systemd will restart the server.", { error });
      }
    };
    this.#timer = setInterval(ping, this.#watchdogMs / 2);
    this.#timer.unref();
    ping();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #notify(message: string): void {
    try {
      this.#send(message);
    } catch (error) {
      this.#log.warn("Could not send the status to systemd.", { error });
    }
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
/** The length of `sun_path` in `struct sockaddr_un`. */
const PATH_BYTES_MAX = 108;
/** File names of glibc and musl. */
const C_LIBRARIES = [
  "libc.so.6",
  "libc.so",
  process.arch === "arm64" ? "ld-musl-aarch64.so.1" : "ld-musl-x86_64.so.1",
  process.arch === "arm64" ? "libc.musl-aarch64.so.1" : "libc.musl-x86_64.so.1",
];

/** Sends datagrams to a path, or to a name in Linux's abstract namespace, which begins with `@`. */
async function openDatagrams(socket: string): Promise<SendDatagram> {
  const { libc, ptr } = await openLibrary();
  const { address, length } = socketAddress(socket);
  return (message) => {
    const bytes = Buffer.from(message);
    const descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) throw new Error("Could not open a socket.");
    try {
      const sent = libc.sendto(descriptor, ptr(bytes), BigInt(bytes.length), MSG_NOSIGNAL, ptr(address), length);
      if (Number(sent) < 0)
        throw new Error(`No program listens on ${socket}, or this user is not allowed to write to it.`);
    } finally {
      libc.close(descriptor);
    }
  };
}

/** `struct sockaddr_un` of unix(7), and its used length. */
function socketAddress(socket: string): { address: Buffer; length: number } {
  const path = Buffer.from(socket);
  if (path.length >= PATH_BYTES_MAX) throw new Error(`The socket path ${socket} is too long.`);
  const address = Buffer.alloc(2 + PATH_BYTES_MAX);
  new DataView(address.buffer, address.byteOffset).setUint16(0, AF_UNIX, true);
  path.copy(address, 2);
  const isAbstract = socket.startsWith("@");
  if (isAbstract) address[2] = 0;
  // A path ends with a zero; an abstract name does not.
  return { address, length: 2 + path.length + (isAbstract ? 0 : 1) };
}

/** Loads the C library only for a service manager. */
async function openLibrary() {
  const { dlopen, ptr } = await import("bun:ffi");
  const functions = {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
    close: { args: ["i32"], returns: "i32" },
  } as const;
  let why: unknown;
  for (const name of C_LIBRARIES) {
    try {
      return { libc: dlopen(name, functions).symbols, ptr };
    } catch (error) {
      why ??= error;
    }
  }
  throw new Error("Could not open the C library.", { cause: why });
}
