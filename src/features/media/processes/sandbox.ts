/**
 * Takes the network from this process: a seccomp filter (seccomp(2)) in the kernel, which all of its threads, and every
 * program that it starts, keep until they end.
 */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { messageOf } from "../../../lib/error.ts";

/** linux/audit.h and the tables of system calls of one architecture. */
interface Architecture {
  readonly audit: number;
  readonly seccomp: number;
  /** Sockets, io_uring (which makes sockets without a system call), and the memory and files of other processes. */
  readonly denied: readonly number[];
  /** execve, execveat. */
  readonly programs: readonly number[];
}

const X64: Architecture = {
  audit: 0xc000_003e,
  seccomp: 317,
  // socket, connect, bind, listen, ptrace, process_vm_readv, process_vm_writev, pidfd_getfd, io_uring_setup, io_uring_enter
  denied: [41, 42, 49, 50, 101, 310, 311, 438, 425, 426],
  programs: [59, 322],
};
const ARM64: Architecture = {
  audit: 0xc000_00b7,
  seccomp: 277,
  denied: [198, 203, 200, 201, 117, 270, 271, 438, 425, 426],
  programs: [221, 281],
};
/** System calls from here on are those of x32, a second table of x64. */
const X32_FIRST = 0x4000_0000;

// linux/prctl.h, linux/seccomp.h, asm-generic/errno-base.h
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;
const SECCOMP_RET_ALLOW = 0x7fff_0000;
const SECCOMP_RET_ERRNO = 0x0005_0000;
const EPERM = 1;

// linux/bpf_common.h: load a word, jump if equal, jump if greater or equal, return.
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
// struct seccomp_data
const OFFSET_NUMBER = 0;
const OFFSET_ARCHITECTURE = 4;

/** What a confined process may still do. */
export interface SandboxOptions {
  /** Whether it may start programs, which then have no network either. */
  readonly mayStartPrograms: boolean;
}

/**
 * Denies this process the network for good. Call it before it opens a file that somebody else wrote.
 * @returns why that is not possible on this system, or undefined
 */
export function denyNetwork(options: SandboxOptions): string | undefined {
  const architecture = process.arch === "x64" ? X64 : process.arch === "arm64" ? ARM64 : undefined;
  if (process.platform !== "linux" || architecture === undefined) return "this system has no seccomp filters";
  try {
    const { prctl, syscall } = openLibc().symbols;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) return "the system rejects PR_SET_NO_NEW_PRIVS";
    const filter = makeFilter(architecture, options);
    // struct sock_fprog { unsigned short len; struct sock_filter *filter }
    const program = new BigUint64Array([BigInt(filter.byteLength / 8), BigInt(ptr(filter))]);
    const { seccomp } = architecture;
    const result = syscall(seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, ptr(program));
    return Number(result) === 0 ? undefined : "the system rejects seccomp filters";
  } catch (error) {
    return messageOf(error);
  }
}

/** The filter as instructions of the Berkeley Packet Filter: denied calls fail with EPERM. */
function makeFilter({ audit, denied, programs }: Architecture, { mayStartPrograms }: SandboxOptions): Uint8Array {
  const calls = mayStartPrograms ? denied : [...denied, ...programs];
  // A jump counts the instructions that it skips. The last two instructions allow and deny.
  const checks = calls.map((call, index) => instruction(JUMP_EQUAL, call, calls.length - index, 0));
  const instructions = [
    instruction(LOAD, OFFSET_ARCHITECTURE),
    instruction(JUMP_EQUAL, audit, 0, calls.length + 3),
    instruction(LOAD, OFFSET_NUMBER),
    instruction(JUMP_AT_LEAST, X32_FIRST, calls.length + 1, 0),
    ...checks,
    instruction(RETURN, SECCOMP_RET_ALLOW),
    instruction(RETURN, SECCOMP_RET_ERRNO | EPERM),
  ];
  return Buffer.concat(instructions);
}

/** `struct sock_filter { __u16 code; __u8 jt; __u8 jf; __u32 k }`; both architectures are little-endian. */
function instruction(code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}

function openLibc() {
  const word = FFIType.u64;
  const symbols = {
    prctl: { args: [FFIType.i32, word, word, word, word], returns: FFIType.i32 },
    syscall: { args: [FFIType.i64, word, word, FFIType.ptr], returns: FFIType.i64 },
  } as const;
  const musl = `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`;
  try {
    return dlopen("libc.so.6", symbols);
  } catch {
    // Not glibc.
    return dlopen(musl, symbols);
  }
}
