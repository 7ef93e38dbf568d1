import ipaddr from "ipaddr.js";

const MAPPED = "::ffff:";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The normalized text of an address: IPv4 in four decimal parts, IPv4 inside IPv6 as IPv4, IPv6 by RFC 5952 without a
 * zone. Undefined for other text, including the short and octal forms of IPv4, which programs read differently.
 */
export function normalizeAddress(text: string): string | undefined {
  // The form of an IPv4 peer on a socket for both families. It occurs with every request, so it is not fully parsed.
  if (text.startsWith(MAPPED) && ipaddr.IPv4.isValidFourPartDecimal(text.slice(MAPPED.length))) {
    return text.slice(MAPPED.length);
  }
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? text : parseAddress(text)?.toString();
}

/** The block of an address for counting: the /64 for IPv6, which one connection commonly owns; IPv4 unchanged. */
export function addressBlock(address: string): string {
  if (!address.includes(":")) return address;
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** Whether an address is this machine: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  return parseAddress(address)?.range() === "loopback";
}

/**
 * Whether an address is on the public internet: global unicast, and in none of the blocks that IANA reserves (private,
 * loopback, link-local, CGNAT, multicast, documentation, 6to4, Teredo, NAT64 …). IPv4 inside IPv6 counts as that IPv4
 * address. False for text that is not an address.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.range() !== "unicast") return false;
  // Only 2000::/3 of IPv6 is assigned. Outside of it are old forms of IPv4 addresses, such as ::7f00:1.
  return parsed instanceof ipaddr.IPv4 || ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** A list of address blocks. */
export class CidrList {
  readonly #blocks: readonly (readonly [Address, number])[];

  private constructor(blocks: readonly (readonly [Address, number])[]) {
    this.#blocks = blocks;
  }

  /**
   * Parses blocks such as `10.0.0.0/8` or `fd00::/8`; a single address is a block of one.
   * @throws Error that names the invalid entry
   */
  static parse(entries: readonly string[]): CidrList {
    return new CidrList(entries.map((entry) => parseBlock(entry.trim())));
  }

  /** Whether no block is listed. */
  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** Whether the address is in one of the blocks; false for text that is not an address. */
  has(address: string): boolean {
    if (this.#blocks.length === 0) return false;
    const parsed = parseAddress(address);
    if (parsed === undefined) return false;
    return this.#blocks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
  }
}

function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) {
    return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined;
  }
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  // The zone names an interface of the machine that wrote it.
  return new ipaddr.IPv6(address.parts);
}

function parseBlock(entry: string): readonly [Address, number] {
  const [text = "", bitsText, ...more] = entry.split("/");
  const address = parseAddress(text);
  const isMapped = address?.kind() === "ipv4" && text.includes(":");
  const wholeBits = address?.kind() === "ipv4" && !isMapped ? 32 : 128;
  const bits = bitsText === undefined ? wholeBits : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : -1;
  const ownBits = isMapped ? bits - 96 : bits;
  if (address === undefined || more.length > 0 || bits > wholeBits || ownBits < 0) {
    throw new Error(`"${entry}" is no address block. Write it as 192.168.0.0/16 or fd00::/8.`);
  }
  return [address, ownBits];
}
