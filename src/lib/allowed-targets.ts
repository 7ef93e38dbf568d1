import { CidrList } from "./cidr.ts";

interface Entry {
  readonly network: CidrList;
  /** Undefined for every port. */
  readonly port: number | undefined;
}

/**
 * Private networks that may be reached, each with all ports or with one. Written as `10.0.0.0/8`,
 * `192.168.1.20:8080`, `10.0.0.0/8:8080`, `fd00::/8`, `[fd00::]/8:8080` or `[fd00::1]:8080`.
 */
export class AllowedTargets {
  readonly #entries: readonly Entry[];

  private constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  /** @throws Error that names the invalid entry */
  static parse(entries: readonly string[]): AllowedTargets {
    return new AllowedTargets(
      entries.map((entry) => {
        const { network, port } = splitPort(entry);
        return { network: CidrList.parse([network]), port };
      }),
    );
  }

  /** Whether no private address may be reached. */
  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Whether this port of an address may be reached; false for text that is no address. */
  has(address: string, port: number): boolean {
    return this.#entries.some((entry) => (entry.port ?? port) === port && entry.network.has(address));
  }
}

/**
 * Takes the port off an entry of {@link AllowedTargets}. Without brackets a colon begins a port only behind a prefix
 * length or an IPv4 address: in `fd00::1:8080` it is part of the address.
 */
export function splitPort(entry: string): { readonly network: string; readonly port: number | undefined } {
  const bracketed = /^\[([^\]]+)\](\/\d{1,3})?(?::(\d{1,5}))?$/.exec(entry);
  const [, address, bits = "", bracketedPort] = bracketed ?? [];
  if (address !== undefined) return { network: address + bits, port: portOf(bracketedPort, entry) };
  const [, network, port] = /^([^/]+\/\d{1,3}|[\d.]+):(\d{1,5})$/.exec(entry) ?? [];
  return network === undefined ? { network: entry, port: undefined } : { network, port: portOf(port, entry) };
}

function portOf(text: string | undefined, entry: string): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (port >= 1 && port <= 65_535) return port;
  throw new Error(`"${entry}" has no port from 1 to 65535.`);
}
