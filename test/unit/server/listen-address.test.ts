import { expect, test } from "bun:test";
import { loadConfig } from "../../../src/config/load.ts";
import { browserAddresses } from "../../../src/server/net/listen-address.ts";

const common = { netmask: "255.255.255.0", mac: "00:00:00:00:00:00", cidr: null };
const interfaces = {
  lo: [{ ...common, address: "127.0.0.1", family: "IPv4" as const, internal: true }],
  eth0: [
    { ...common, address: "fd00::2", family: "IPv6" as const, internal: false, scopeid: 0 },
    { ...common, address: "192.168.1.20", family: "IPv4" as const, internal: false },
  ],
};

function addresses(flags: Record<string, string>, on: NodeJS.Dict<(typeof interfaces)["eth0"]> = interfaces): string[] {
  const { config } = loadConfig({ flags: { data: "/nowhere", ...flags }, environment: {} });
  return browserAddresses(config, 8790, on as Parameters<typeof browserAddresses>[2]);
}

test("a server on all addresses is opened at the one of its network, and on its own machine", () => {
  for (const host of ["0.0.0.0", "::"]) {
    const here = host === "::" ? "http://[::1]:8790/x" : "http://127.0.0.1:8790/x";
    expect(addresses({ host, basePath: "/x" })).toEqual(["http://192.168.1.20:8790/x", here]);
    expect(addresses({ host, basePath: "/x" }, { lo: interfaces.lo })).toEqual([here]);
  }
});

test("a server on one address is opened there", () => {
  expect(addresses({})).toEqual(["http://127.0.0.1:8790"]);
  expect(addresses({ host: "192.168.1.7" })).toEqual(["http://192.168.1.7:8790"]);
});
