import { describe, expect, test } from "bun:test";
import {
  ClientAddresses,
  LOCAL_PEER,
  isForwarded,
  isLocalRequest,
  rateLimitKey,
} from "../../../src/http/client-address.ts";
import { CidrList, normalizeAddress } from "../../../src/lib/cidr.ts";
import { type Log, silentLog } from "../../../src/lib/log.ts";

const PROXY = "10.0.0.1";
const trusted = new ClientAddresses(["10.0.0.0/8", "fd00::/8"], silentLog);

function address(headers: Record<string, string>, peer = PROXY): string {
  return trusted.addressOf(peer, new Headers(headers));
}

describe("the client address", () => {
  test("is the peer's where nothing is forwarded, IPv4 inside IPv6 as IPv4", () => {
    expect(address({}, "192.0.2.7")).toBe("192.0.2.7");
    expect(address({}, "::ffff:192.0.2.7")).toBe("192.0.2.7");
    expect(address({}, "2001:DB8:0:0::1")).toBe("2001:db8::1");
    expect(address({}, "fe80::1%eth0")).toBe("fe80::1");
  });

  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["1.1.1.1, 203.0.113.9", "203.0.113.9"],
    ["1.1.1.1, 203.0.113.9, 10.2.3.4", "203.0.113.9"],
    ["203.0.113.9:5678", "203.0.113.9"],
    ["2001:db8::9", "2001:db8::9"],
    ["[2001:db8::9]", "2001:db8::9"],
    ["[2001:db8::9]:443", "2001:db8::9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["203.0.113.9, fd00::5", "203.0.113.9"],
    ["10.9.9.9, 10.8.8.8", "10.9.9.9"],
    ["203.0.113.9, nonsense, 10.8.8.8", "10.8.8.8"],
    ["203.0.113.9, nonsense", PROXY],
    ["203.0.113.9,", PROXY],
    ["unknown", PROXY],
    ["0x7f.1", PROXY],
    ["127.1", PROXY],
    ["010.0.0.1", PROXY],
    ["203.0.113.9:port", PROXY],
    ["[203.0.113.9", PROXY],
    ["", PROXY],
  ])("from X-Forwarded-For %p is %s", (header, expected) => {
    expect(address({ "X-Forwarded-For": header })).toBe(expected);
  });

  test.each([
    ["for=203.0.113.9", "203.0.113.9"],
    ['For="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
    ["for=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"],
    ['for=1.1.1.1, for="203.0.113.9:80" ; proto=http, for=10.2.3.4', "203.0.113.9"],
    ["for=203.0.113.9, for=_hidden", PROXY],
    ["for=203.0.113.9, for=unknown", PROXY],
    ["for=203.0.113.9, proto=http", PROXY],
    ["for=1.1.1.1;for=203.0.113.9", PROXY],
    ['for="203.0.113.9', PROXY],
    ['for="1.1.1.1, for=203.0.113.9"', PROXY],
    ['for=1.1.1.1;host="a,b;c", for=203.0.113.9', "203.0.113.9"],
    ['for="203.0.113\\.9"', "203.0.113.9"],
  ])("from Forwarded %p is %s (RFC 7239)", (header, expected) => {
    expect(address({ Forwarded: header })).toBe(expected);
  });

  test("comes from X-Forwarded-For where both are there", () => {
    expect(address({ "X-Forwarded-For": "203.0.113.9", Forwarded: "for=1.1.1.1" })).toBe("203.0.113.9");
  });

  test("is the peer's where that is no listed proxy, which is warned of once", () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
    for (const addresses of [new ClientAddresses([], log), new ClientAddresses(["10.0.0.0/8"], log)]) {
      warnings.length = 0;
      for (const peer of ["192.168.1.4", "::ffff:192.168.1.4", "192.168.1.4"]) {
        expect(addresses.addressOf(peer, new Headers({ "X-Forwarded-For": "203.0.113.9" }))).toBe("192.168.1.4");
        expect(addresses.addressOf(peer, new Headers({ Forwarded: "for=203.0.113.9" }))).toBe("192.168.1.4");
      }
      expect(warnings).toHaveLength(1);
    }
  });

  test("of a very long list is found without reading all of it", () => {
    expect(address({ "X-Forwarded-For": Array.from({ length: 5000 }, () => "10.1.1.1").join(",") })).toBe("10.1.1.1");
  });
});

test("an IPv4 proxy is known in its IPv6 form, and a list that is none is rejected", () => {
  expect(trusted.addressOf("::ffff:10.0.0.1", new Headers({ "X-Forwarded-For": "203.0.113.9" }))).toBe("203.0.113.9");
  expect(trusted.isTrusted("::ffff:10.0.0.1")).toBe(true);
  expect(trusted.isTrusted("11.0.0.1")).toBe(false);
  expect(() => new ClientAddresses(["10.0.0.0/33"], silentLog)).toThrow('"10.0.0.0/33"');
});

test("IPv6 counts by its /64, IPv4 by address", () => {
  expect(rateLimitKey("192.0.2.7")).toBe("192.0.2.7");
  expect(rateLimitKey("::ffff:192.0.2.7")).toBe("192.0.2.7");
  expect(rateLimitKey("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(rateLimitKey("2001:db8:1:2::9")).toBe("2001:db8:1:2::/64");
  expect(rateLimitKey("2001:db8:1:3::9")).toBe("2001:db8:1:3::/64");
  expect(rateLimitKey("::1")).toBe("::/64");
});

test.each<[string, "http" | "https" | undefined]>([
  ["https", "https"],
  ["http, HTTPS", "https"],
  ["https, http", "http"],
  ["ftp", undefined],
])("the scheme from X-Forwarded-Proto %p is %p, of a listed proxy alone", (header, expected) => {
  const headers = new Headers({ "X-Forwarded-Proto": header });
  expect(trusted.protocolOf(() => PROXY, headers)).toBe(expected);
  expect(trusted.protocolOf(() => "192.0.2.1", headers)).toBeUndefined();
});

test("the scheme from Forwarded is the nearest proxy's", () => {
  expect(
    trusted.protocolOf(() => PROXY, new Headers({ Forwarded: "for=1.1.1.1;proto=http, for=2.2.2.2;proto=https" })),
  ).toBe("https");
  const noPeer = () => {
    throw new Error("the peer is not needed");
  };
  expect(trusted.protocolOf(noPeer, new Headers())).toBeUndefined();
});

test("a local request has a loopback peer, a Host of this machine and no trace of a proxy", () => {
  const host = { Host: "localhost:8790" };
  for (const peer of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
    expect(isLocalRequest(peer, new Headers(host))).toBe(true);
    for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-Proto", "Via", "CF-Connecting-IP"]) {
      expect(isLocalRequest(peer, new Headers({ ...host, [name]: "" }))).toBe(false);
    }
  }
  expect(isLocalRequest("192.168.1.1", new Headers(host))).toBe(false);
  expect(isLocalRequest("a socket", new Headers(host))).toBe(false);
  const isLocalTo = (name: string) => isLocalRequest("127.0.0.1", new Headers({ Host: name }));
  for (const name of [
    "localhost",
    "LOCALHOST:80",
    "a.localhost",
    "localhost.",
    "127.0.0.1",
    "127.1.2.3:1",
    "[::1]:8790",
  ])
    expect([name, isLocalTo(name)]).toEqual([name, true]);
  for (const name of [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "notlocalhost",
    "192.168.1.1",
    "[",
    "",
  ])
    expect([name, isLocalTo(name)]).toEqual([name, false]);
  expect(isLocalRequest("127.0.0.1", new Headers())).toBe(false);
  expect(isForwarded(new Headers({ Host: "a" }))).toBe(false);
});

describe("address blocks", () => {
  test("hold what they name", () => {
    const list = CidrList.parse([" 192.168.1.77/24", "203.0.113.5", "2001:db8::/32", "::ffff:172.16.0.0/108"]);
    for (const inside of ["192.168.1.1", "203.0.113.5", "2001:db8:ffff::1", "172.16.9.9", "::ffff:203.0.113.5"]) {
      expect(list.has(inside)).toBe(true);
    }
    for (const outside of ["192.168.2.1", "203.0.113.6", "2001:db9::1", "172.32.0.1", "nonsense", ""]) {
      expect(list.has(outside)).toBe(false);
    }
    expect(CidrList.parse(["0.0.0.0/0"]).has("::1")).toBe(false);
    expect(CidrList.parse(["::/0"]).has("2001:db8::1")).toBe(true);
    expect(CidrList.parse([]).isEmpty).toBe(true);
  });

  test.each([
    "",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/33",
    "::/129",
    "10/8",
    "host",
    "10.0.0.0/8/8",
    "::ffff:1.2.3.4/80",
  ])("are rejected when written as %p", (entry) => {
    expect(() => CidrList.parse([entry])).toThrow("no address block");
  });

  test("an address has one form", () => {
    expect(normalizeAddress("2001:0DB8::0001")).toBe("2001:db8::1");
    expect(normalizeAddress("1.2.3")).toBeUndefined();
    expect(normalizeAddress("1.2.3.04")).toBeUndefined();
    expect(normalizeAddress("1.2.3.256")).toBeUndefined();
  });
});

test("the peer of a Unix socket is trusted; behind a port the same name is not", () => {
  const headers = new Headers({ "x-forwarded-for": "203.0.113.7, 10.0.0.1", "x-forwarded-proto": "https" });
  const socket = new ClientAddresses(["10.0.0.0/8"], silentLog, true);
  expect(socket.addressOf(LOCAL_PEER, headers)).toBe("203.0.113.7");
  expect(socket.protocolOf(() => LOCAL_PEER, headers)).toBe("https");
  expect(socket.isTrusting).toBe(true);
  expect(socket.addressOf(LOCAL_PEER, new Headers())).toBe(LOCAL_PEER);
  // A request whose connection is gone has no address either.
  expect(trusted.addressOf(LOCAL_PEER, headers)).toBe(LOCAL_PEER);
  expect(trusted.protocolOf(() => LOCAL_PEER, headers)).toBeUndefined();
});
