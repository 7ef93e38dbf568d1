/**
 * The TCP connections of this process as the kernel sees them. Bun tells of requests, not of connections: of one on which
 * no request has come yet, nobody else knows. Linux only; where the C library can't be asked, there are none to be seen.
 */
import { dlopen, ptr } from "bun:ffi";
import { listDescriptors } from "../../lib/descriptors.ts";

/** A connection that somebody made to a port of ours. */
export interface TcpConnection {
  readonly fd: number;
  readonly peerPort: number;
  /** Whether something that was sent has not arrived yet. */
  readonly isSending: boolean;
  /** Bytes that the other end has taken so far. */
  readonly takenBytes: bigint;
}

// The numbers of Linux, on x86-64 and arm64 alike.
const SOL_SOCKET = 1;
const ATTACH_REUSEPORT_CBPF = 51;
const BPF_RETURN = 0x06;
const SOL_TCP = 6;
const TCP_INFO = 11;
const SHUT_RDWR = 2;
const ESTABLISHED = 1;
const CLOSE_WAIT = 8;
const LISTEN = 10;
/** Where they stand in `struct tcp_info`. */
const UNACKED_AT = 24;
const TAKEN_AT = 120;
const NOT_SENT_AT = 144;
const INFO_BYTES = 256;
/** Room for a sockaddr_in6. */
const ADDRESS_BYTES = 28;

const libc = loadLibc();

/** Open connections that were made to these ports. About a microsecond for each descriptor of this process. */
export function listConnections(ports: ReadonlySet<number>): TcpConnection[] {
  if (libc === undefined) return [];
  const found: TcpConnection[] = [];
  const info = new DataView(new ArrayBuffer(INFO_BYTES));
  const address = new DataView(new ArrayBuffer(ADDRESS_BYTES));
  const length = new Uint32Array(1);
  for (const fd of listDescriptors()) {
    length[0] = INFO_BYTES;
    if (libc.getsockopt(fd, SOL_TCP, TCP_INFO, ptr(info), ptr(length)) !== 0) continue;
    const state = info.getUint8(0);
    if (state !== ESTABLISHED && state !== CLOSE_WAIT) continue;
    length[0] = ADDRESS_BYTES;
    if (libc.getsockname(fd, ptr(address), ptr(length)) !== 0 || !ports.has(address.getUint16(2))) continue;
    length[0] = ADDRESS_BYTES;
    if (libc.getpeername(fd, ptr(address), ptr(length)) !== 0) continue;
    const isSending = info.getUint32(UNACKED_AT, true) + info.getUint32(NOT_SENT_AT, true) > 0;
    found.push({ fd, peerPort: address.getUint16(2), isSending, takenBytes: info.getBigUint64(TAKEN_AT, true) });
  }
  return found;
}

/**
 * Ends a connection in both directions; whoever owns it notices and closes it. To be called in the same turn of the event
 * loop in which it was listed: a descriptor may stand for something else in the next.
 */
export function endConnection({ fd }: TcpConnection): void {
  libc?.shutdown(fd, SHUT_RDWR);
}

/**
 * Gives every new connection to one of the sockets that share a port (SO_REUSEPORT), by their order of arrival, rather
 * than by chance.
 * @returns whether that was possible; else they go on by chance
 */
export function steerConnections(port: number, index: number): boolean {
  if (libc === undefined) return false;
  // A classic BPF program of one instruction (socket(7), SO_ATTACH_REUSEPORT_CBPF): return the index.
  const program = new DataView(new ArrayBuffer(8));
  program.setUint16(0, BPF_RETURN, true);
  program.setUint32(4, index, true);
  const description = new DataView(new ArrayBuffer(16));
  description.setUint16(0, 1, true);
  description.setBigUint64(8, BigInt(ptr(program)), true);
  const length = new Uint32Array(1);
  const info = new DataView(new ArrayBuffer(INFO_BYTES));
  const address = new DataView(new ArrayBuffer(ADDRESS_BYTES));
  for (const fd of listDescriptors()) {
    length[0] = INFO_BYTES;
    if (libc.getsockopt(fd, SOL_TCP, TCP_INFO, ptr(info), ptr(length)) !== 0 || info.getUint8(0) !== LISTEN) continue;
    length[0] = ADDRESS_BYTES;
    if (libc.getsockname(fd, ptr(address), ptr(length)) !== 0 || address.getUint16(2) !== port) continue;
    // Of one socket it holds for all that share its port.
    return libc.setsockopt(fd, SOL_SOCKET, ATTACH_REUSEPORT_CBPF, ptr(description), description.byteLength) === 0;
  }
  return false;
}

function loadLibc() {
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(library, {
        getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
        getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
        getpeername: { args: ["i32", "ptr", "ptr"], returns: "i32" },
        setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
        shutdown: { args: ["i32", "i32"], returns: "i32" },
      }).symbols;
    } catch {
      continue; // the other C library's name, or none at all
    }
  }
  return undefined;
}
