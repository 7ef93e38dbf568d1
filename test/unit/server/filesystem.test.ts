import { describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { AppError } from "../../../src/errors.ts";
import {
  availableBytes,
  defaultFloorBytes,
  DiskReservations,
  fileSystemKind,
  rejectNetworkFileSystem,
  totalBytes,
} from "../../../src/server/data/filesystem.ts";

const MIB = 1024 * 1024;

/** A disk of 64 MiB whose free space the test sets. */
function disk(available: number) {
  const state = { available };
  const probe = { availableBytes: () => state.available, totalBytes: () => 64 * MIB };
  return { state, reservations: new DiskReservations("/", null, probe) };
}

function rejectionOf(work: () => unknown): AppError | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  return undefined;
}

describe("the reserved space", () => {
  test("is 2 % of the disk, between 8 and 512 MiB", () => {
    expect([64 * MIB, 1024 * MIB, 1024 * 1024 * MIB].map(defaultFloorBytes)).toEqual([8 * MIB, 20.48 * MIB, 512 * MIB]);
  });

  test("can be set", () => {
    const probe = { availableBytes: () => 100, totalBytes: () => 1000 };
    expect(new DiskReservations("/", 60, probe).floorBytes).toBe(60);
    expect(rejectionOf(() => new DiskReservations("/", 60, probe).reserve(41))?.reason).toBe("disk_full");
    new DiskReservations("/", 60, probe).reserve(40)();
  });
});

describe("reservations", () => {
  test("never use up the reserved space together, and are rejected before the first byte", () => {
    const { reservations } = disk(40 * MIB);
    const first = reservations.reserve(20 * MIB);
    const refused = rejectionOf(() => reservations.reserve(13 * MIB));
    expect(refused?.reason).toBe("disk_full");
    expect(refused?.details).toEqual({ requiredBytes: 13 * MIB, availableBytes: 12 * MIB });
    const second = reservations.reserve(12 * MIB);
    expect(reservations.reservedBytes).toBe(32 * MIB);
    first();
    second();
    expect(reservations.reservedBytes).toBe(0);
  });

  test("released twice count once", () => {
    const { reservations } = disk(40 * MIB);
    const [one, other] = [reservations.reserve(MIB), reservations.reserve(MIB)];
    one();
    one();
    one(5);
    expect(reservations.reservedBytes).toBe(MIB);
    other();
    expect(reservations.reservedBytes).toBe(0);
  });

  test("shrink as their bytes are written to disk, so that nothing is counted twice", () => {
    const { state, reservations } = disk(40 * MIB);
    const first = reservations.reserve(20 * MIB);
    first(15 * MIB);
    state.available -= 15 * MIB;
    expect(reservations.reservedBytes).toBe(5 * MIB);
    expect(rejectionOf(() => reservations.reserve(12 * MIB + 1))?.reason).toBe("disk_full");
    reservations.reserve(12 * MIB)();
    first(100 * MIB);
    expect(reservations.reservedBytes).toBe(0);
  });

  test("of zero bytes are rejected once only the reserved space is left", () => {
    expect(rejectionOf(() => disk(7 * MIB).reservations.reserve(0))?.reason).toBe("disk_full");
    disk(8 * MIB).reservations.reserve(0)();
  });
});

describe("the file system", () => {
  test("of a local directory is recognized, has space, and is accepted", () => {
    expect(fileSystemKind(tmpdir()).isForeign).toBe(false);
    expect(rejectNetworkFileSystem(tmpdir(), false)).toBeUndefined();
    expect(availableBytes(tmpdir())).toBeGreaterThan(0);
    expect(totalBytes(tmpdir())).toBeGreaterThanOrEqual(availableBytes(tmpdir()));
  });

  test("of a network is rejected for the database unless the operator allows it", () => {
    const nfs = { name: "nfs", isForeign: true };
    expect(() => rejectNetworkFileSystem("/mnt/nas", false, nfs)).toThrow("LARDER_ALLOW_NETWORK_FILESYSTEM=on");
    expect(rejectNetworkFileSystem("/mnt/nas", true, nfs)).toContain("is on nfs");
  });
});
