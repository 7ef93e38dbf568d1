/**
 * The TCP connections of this process, read from the kernel. Bun reports requests, but no connection without a request.
 * Linux only. Without a C library the list is empty.
 */
import { dlopen, ptr } from "bun:ffi";
import { listDescriptors } from "../../lib/descriptors.ts";

/** A connection from a client to a port of this process. */
export interface TcpConnection {
  readonly fd: number;
  readonly peerPort: number;
  /** Whether sent bytes are not acknowledged yet. */
  readonly isSending: boolean;
  /** Bytes that the client has acknowledged. */
  readonly acknowledgedBytes: bigint;
}

// Constants of Linux, the same on x86-64 and arm64.
const SOL_SOCKET = 1;
const ATTACH_REUSEPORT_CBPF = 51;
const BPF_RETURN = 0x06;
const SOL_TCP = 6;
const TCP_INFO = 11;
const SHUT_RDWR = 2;
const ESTABLISHED = 1;
const CLOSE_WAIT = 8;
const LISTEN = 10;
/** Offsets in `struct tcp_info`. */
const UNACKED_AT = 24;
const ACKNOWLEDGED_AT = 120;
const NOT_SENT_AT = 144;
const INFO_BYTES = 256;
/** Room for a sockaddr_in6. */
const ADDRESS_BYTES = 28;

const libc = loadLibc();

/** Lists the open connections to these ports. Takes about a microsecond for each descriptor of this process. */
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
    found.push({
      fd,
      peerPort: address.getUint16(2),
      isSending,
      acknowledgedBytes: info.getBigUint64(ACKNOWLEDGED_AT, true),
    });
  }
  return found;
}

/**
 * Shuts a connection down in both directions; Bun notices and closes it. Call it in the same turn of the event loop as
 * {@link listConnections}: later, the descriptor may belong to something else.
 */
export function endConnection({ fd }: TcpConnection): void {
  libc?.shutdown(fd, SHUT_RDWR);
}

/**
 * Directs every new connection to one of the sockets that share a port (SO_REUSEPORT). By default the kernel picks one
 * by a hash.
 * @param index position of the socket in the order in which they were opened
 * @returns whether that was possible
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
    // Setting it on one socket sets it for all that share its port.
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
      continue; // this C library is not installed
    }
  }
  return undefined;
}
