import ipaddr from "ipaddr.js";

const MAPPED = "::ffff:";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * An address as text in its one form: IPv4 in four decimal parts, IPv4 inside IPv6 as IPv4, IPv6 by RFC 5952 without
 * a zone. Undefined for anything else; the short and octal spellings of IPv4 are refused, since programs read them
 * differently.
 */
export function normalizeAddress(text: string): string | undefined {
  // What a socket that listens on both families calls an IPv4 peer: with every request, so without a full parse.
  if (text.startsWith(MAPPED) && ipaddr.IPv4.isValidFourPartDecimal(text.slice(MAPPED.length))) {
    return text.slice(MAPPED.length);
  }
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? text : parseAddress(text)?.toString();
}

/** The block an address is counted in: IPv6 by its /64, which one connection commonly has to itself; IPv4 as it is. */
export function addressBlock(address: string): string {
  if (!address.includes(":")) return address;
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** Whether an address is this machine itself: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  return parseAddress(address)?.range() === "loopback";
}

/**
 * Whether an address is a machine of the open internet: global unicast, and in none of the blocks that IANA keeps for
 * something else (private, loopback, link-local, CGNAT, multicast, documentation, 6to4, Teredo, NAT64 …). IPv4 inside
 * IPv6 is judged as the IPv4 address that it leads to. False for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.range() !== "unicast") return false;
  // Of IPv6 only 2000::/3 is given out; outside of it lie old forms such as ::7f00:1, which name IPv4 addresses.
  return parsed instanceof ipaddr.IPv4 || ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** A list of address blocks. */
export class CidrList {
  readonly #blocks: readonly (readonly [Address, number])[];

  private constructor(blocks: readonly (readonly [Address, number])[]) {
    this.#blocks = blocks;
  }

  /**
   * Reads blocks such as `10.0.0.0/8` or `fd00::/8`; a bare address is a block of one.
   * @throws Error that names the entry that is none
   */
  static parse(entries: readonly string[]): CidrList {
    return new CidrList(entries.map((entry) => parseBlock(entry.trim())));
  }

  /** Whether no block is listed. */
  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** Whether the address lies in one of the blocks; false for what is no address. */
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
