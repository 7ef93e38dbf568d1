import { expect, test } from "bun:test";
import { AllowedTargets } from "../../../src/lib/allowed-targets.ts";

test.each([
  [
    "10.0.0.0/8",
    [
      ["10.1.2.3", 1],
      ["10.1.2.3", 65_535],
    ],
    [["11.0.0.1", 1]],
  ],
  ["192.168.1.20", [["192.168.1.20", 80]], [["192.168.1.21", 80]]],
  [
    "192.168.1.20:8080",
    [["192.168.1.20", 8080]],
    [
      ["192.168.1.20", 80],
      ["192.168.1.21", 8080],
    ],
  ],
  [
    "10.0.0.0/8:8080",
    [["10.9.9.9", 8080]],
    [
      ["10.9.9.9", 8081],
      ["11.0.0.1", 8080],
    ],
  ],
  [
    "fd00::/8",
    [
      ["fd00::1", 443],
      ["fdff::1", 1],
    ],
    [["fe80::1", 443]],
  ],
  ["fd00::1:8080", [["fd00::1:8080", 443]], [["fd00::1", 8080]]],
  [
    "[fd00::1]:8080",
    [["fd00::1", 8080]],
    [
      ["fd00::1", 443],
      ["fd00::2", 8080],
    ],
  ],
  ["[fd00::]/8:8080", [["fd00::1", 8080]], [["fd00::1", 443]]],
  ["fd00::/8:8080", [["fd00::1", 8080]], [["fd00::1", 443]]],
  ["[fd00::]/8", [["fd00::1", 443]], [["fe80::1", 443]]],
] as const)("%s allows that and no more", (entry, allowed, refused) => {
  const targets = AllowedTargets.parse([entry]);
  expect(targets.isEmpty).toBe(false);
  for (const [address, port] of allowed)
    expect([address, port, targets.has(address, port)]).toEqual([address, port, true]);
  for (const [address, port] of refused)
    expect([address, port, targets.has(address, port)]).toEqual([address, port, false]);
});

test.each([
  "10.0.0.0/8:0",
  "10.0.0.1:65536",
  "10.0.0.1:",
  "[fd00::1",
  "fd00::1]:80",
  "10.0.0.0/8:80:80",
  "host:80",
  "",
])("%s is refused", (entry) => expect(() => AllowedTargets.parse([entry])).toThrow());

test("an empty list allows nothing", () => {
  const targets = AllowedTargets.parse([]);
  expect([targets.isEmpty, targets.has("10.0.0.1", 443)]).toEqual([true, false]);
});
