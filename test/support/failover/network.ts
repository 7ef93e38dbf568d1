// Connects servers under test to the object store and to their clients by links that can lose all packets.

/** Set by scripts/rounds/failover when it runs in a network namespace of its own, with the rights to make links. */
export const canCutLinks = process.env["LARDER_ROUNDS_NAMESPACE"] === "1";

/** Which packets of a link are lost. */
export type CutDirection = "both" | "to-server" | "from-server";

/** An Ethernet address that nobody has: the kernel of the receiver drops packets that are sent to it. */
const NOBODY = "02:00:00:00:00:fe";

/** A link between a server and this process, or an address on loopback, which can't be cut. */
export class Link {
  private constructor(
    /** Where the server reaches this process, and the object store. */
    readonly hubAddress: string,
    /** Where this process reaches the server. */
    readonly serverAddress: string,
    private readonly ends: { readonly device: string; readonly inside: readonly string[] } | undefined,
  ) {}

  static loopback(): Link {
    return new Link("127.0.0.1", "127.0.0.1", undefined);
  }

  /**
   * Creates a pair of virtual network devices, one of them inside the namespace of the server.
   * @param device name of both devices, at most 15 characters
   * @param network the first three numbers of its addresses
   */
  static create(device: string, network: string, namespacePid: number): Link {
    const inside = ["nsenter", "-t", String(namespacePid), "-n"];
    const [hubAddress, serverAddress] = [`${network}.1`, `${network}.2`];
    const peer = ["peer", "name", device, "netns", String(namespacePid)];
    // Both ends may have the same name, because they are in different namespaces.
    runNow(["ip", "link", "add", device, "type", "veth", ...peer]);
    runNow(["ip", "addr", "add", `${hubAddress}/30`, "dev", device]);
    runNow(["ip", "link", "set", device, "up"]);
    runNow([...inside, "ip", "addr", "add", `${serverAddress}/30`, "dev", device]);
    runNow([...inside, "ip", "link", "set", device, "up"]);
    return new Link(hubAddress, serverAddress, { device, inside });
  }

  /** Loses all packets from now on. Neither side notices. */
  cut(direction: CutDirection): void {
    const { device, inside } = this.required();
    const lose = ["lladdr", NOBODY, "nud", "permanent", "dev", device];
    if (direction !== "from-server") runNow(["ip", "neigh", "replace", this.serverAddress, ...lose]);
    if (direction !== "to-server") runNow([...inside, "ip", "neigh", "replace", this.hubAddress, ...lose]);
  }

  /** Ends a cut, if there is one. */
  heal(): void {
    if (this.ends === undefined) return;
    const { device, inside } = this.ends;
    runNow(["ip", "neigh", "flush", "dev", device, "nud", "permanent"]);
    runNow([...inside, "ip", "neigh", "flush", "dev", device, "nud", "permanent"]);
  }

  private required(): { readonly device: string; readonly inside: readonly string[] } {
    if (this.ends === undefined) throw new Error("links can be cut only in a network namespace");
    return this.ends;
  }
}

/** The network of one server: a namespace of its own with two links, or loopback. */
export class ServerNetwork {
  private constructor(
    /** Words before a command that runs in this network. */
    readonly prefix: readonly string[],
    readonly store: Link,
    readonly clients: Link,
    private readonly holder: Bun.Subprocess | undefined,
  ) {}

  /** @param number of the server, from 1; it makes names and addresses unique */
  static async create(number: number): Promise<ServerNetwork> {
    if (!canCutLinks) return new ServerNetwork([], Link.loopback(), Link.loopback(), undefined);
    // A namespace exists as long as a process is in it.
    const holder = Bun.spawn(
      ["unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec sleep infinity"],
      {
        stdout: "pipe",
      },
    );
    await holder.stdout.getReader().read();
    return new ServerNetwork(
      ["nsenter", "-t", String(holder.pid), "-n"],
      Link.create(`store${number}`, `10.77.${number}`, holder.pid),
      Link.create(`clients${number}`, `10.78.${number}`, holder.pid),
      holder,
    );
  }

  heal(): void {
    this.store.heal();
    this.clients.heal();
  }

  async close(): Promise<void> {
    this.holder?.kill();
    await this.holder?.exited;
  }
}

function runNow(command: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync([...command], { stderr: "pipe" });
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`);
}
