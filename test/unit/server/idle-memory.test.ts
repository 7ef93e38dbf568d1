import { describe, expect, test } from "bun:test";
import { IdleMemory } from "../../../src/server/observability/idle-memory.ts";

const MIB = 2 ** 20;

/** A server with 100 MiB, of which a release gives back 60. */
function setUp() {
  const server = { requests: 0, pending: 0, bytes: 100 * MIB, releases: 0 };
  const memory = new IdleMemory({
    requestCount: () => server.requests,
    pendingRequests: () => server.pending,
    residentBytes: () => server.bytes,
    release() {
      server.releases++;
      server.bytes -= 60 * MIB;
    },
  });
  const check = (times: number) => {
    for (let i = 0; i < times; i++) memory.check();
  };
  return { server, check };
}

describe("an idle server", () => {
  test("releases the memory of its start once", () => {
    const { server, check } = setUp();
    check(1);
    expect(server.releases).toBe(0);
    check(20);
    expect(server.releases).toBe(1);
  });

  test("releases memory again after it has grown", () => {
    const { server, check } = setUp();
    check(4);
    server.bytes += 7 * MIB;
    check(4);
    expect(server.releases).toBe(1);
    server.bytes += 60 * MIB;
    check(4);
    expect(server.releases).toBe(2);
  });

  test("may receive a few requests, as from a monitor", () => {
    const { server, check } = setUp();
    for (let i = 0; i < 3; i++) {
      server.requests += 5;
      check(1);
    }
    expect(server.releases).toBe(1);
  });
});

describe("a busy server", () => {
  test("releases nothing between requests", () => {
    const { server, check } = setUp();
    for (let i = 0; i < 20; i++) {
      server.requests += 6;
      check(1);
    }
    expect(server.releases).toBe(0);
    check(2);
    expect(server.releases).toBe(1);
  });

  test("releases nothing during a long request", () => {
    const { server, check } = setUp();
    server.pending = 1;
    check(20);
    expect(server.releases).toBe(0);
    server.pending = 0;
    check(2);
    expect(server.releases).toBe(1);
  });
});
