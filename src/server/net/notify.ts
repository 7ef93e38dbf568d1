/**
 * Tells a service manager how the server is, by the protocol of sd_notify(3): a datagram to the socket that NOTIFY_SOCKET
 * names. systemd gives one to services of `Type=notify`; container engines pass it on. Bun has no such sockets, so the C
 * library is asked for them, and only where there is somebody to tell.
 */
import type { Log } from "../../lib/log.ts";

/** Says things to the service manager. Where there is none, every call does nothing. */
export interface Notifier {
  /** What the server is doing, in words: shown by `systemctl status`. */
  status(text: string): void;
  /** The server takes requests. */
  ready(text: string): void;
  /** It stops, and may take this long. */
  stopping(ms: number): void;
  /** It starts, and needs this much longer than the manager would wait. */
  extend(ms: number): void;
  /**
   * From now on says twice in each of the manager's intervals that all is well, where it wants to hear that and `check`
   * throws nothing. A server whose event loop stands still says nothing either, and is started anew.
   */
  watch(check: () => void): void;
  /** Says no more. */
  close(): void;
}

/** Sends one datagram. @throws Error that says what the system refused */
export type SendDatagram = (message: string) => void;

const SILENT: Notifier = {
  status() {},
  ready() {},
  stopping() {},
  extend() {},
  watch() {},
  close() {},
};

/**
 * The manager that the environment names. Takes its variables out of the environment: they are for this process alone.
 * @param makeSend how datagrams are sent to a socket; replaced in tests
 */
export async function openNotifier(
  environment: Record<string, string | undefined>,
  log: Log,
  makeSend: (socket: string) => Promise<SendDatagram> = openDatagrams,
): Promise<Notifier> {
  const socket = environment["NOTIFY_SOCKET"];
  const watchdogMs = watchdogInterval(environment);
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete environment[name];
  // Anything else is of a kind that the protocol has and we don't speak, such as vsock.
  if (socket === undefined || !/^[/@]./.test(socket)) return SILENT;
  try {
    return new SocketNotifier(await makeSend(socket), watchdogMs, log);
  } catch (error) {
    log.warn("Cannot notify systemd; use Type=exec in the unit.", { error });
    return SILENT;
  }
}

/** How often the manager wants to hear from this process; undefined where it doesn't. */
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
    this.#tell(`STATUS=${oneLine(text)}`);
  }

  ready(text: string): void {
    this.#tell(`READY=1\nMAINPID=${process.pid}\nSTATUS=${oneLine(text)}`);
  }

  stopping(ms: number): void {
    this.#tell(`STOPPING=1\nEXTEND_TIMEOUT_USEC=${ms * 1000}\nSTATUS=Finishing running requests.`);
  }

  extend(ms: number): void {
    this.#tell(`EXTEND_TIMEOUT_USEC=${ms * 1000}`);
  }

  watch(check: () => void): void {
    clearInterval(this.#timer);
    if (this.#watchdogMs === undefined) return;
    const look = () => {
      try {
        check();
        this.#tell("WATCHDOG=1");
      } catch (error) {
        this.#log.error("Could not send the systemd watchdog ping; systemd will restart the server.", { error });
      }
    };
    this.#timer = setInterval(look, this.#watchdogMs / 2);
    this.#timer.unref();
    look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tell(message: string): void {
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
/** Of `sun_path` in `struct sockaddr_un`. */
const PATH_BYTES_MAX = 108;
/** glibc's; musl's on Alpine and elsewhere. */
const C_LIBRARIES = [
  "libc.so.6",
  "libc.so",
  process.arch === "arm64" ? "ld-musl-aarch64.so.1" : "ld-musl-x86_64.so.1",
  process.arch === "arm64" ? "libc.musl-aarch64.so.1" : "libc.musl-x86_64.so.1",
];

/** Datagrams by the C library, to a path or, with `@` before it, to a name in Linux's abstract namespace. */
async function openDatagrams(socket: string): Promise<SendDatagram> {
  const { libc, ptr } = await openLibrary();
  const { address, length } = addressOf(socket);
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

/** `struct sockaddr_un` of unix(7), and how much of it counts. */
function addressOf(socket: string): { address: Buffer; length: number } {
  const path = Buffer.from(socket);
  if (path.length >= PATH_BYTES_MAX) throw new Error(`The socket path ${socket} is too long.`);
  const address = Buffer.alloc(2 + PATH_BYTES_MAX);
  new DataView(address.buffer, address.byteOffset).setUint16(0, AF_UNIX, true);
  path.copy(address, 2);
  const isAbstract = socket.startsWith("@");
  if (isAbstract) address[2] = 0;
  // A path is ended by a zero; a name is as long as it is.
  return { address, length: 2 + path.length + (isAbstract ? 0 : 1) };
}

/** Loaded here alone: whoever is not run by a service manager needs none of it. */
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
