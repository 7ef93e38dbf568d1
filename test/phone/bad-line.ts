// A connection between phone and server that keeps its address while the server restarts, and that breaks. Connections
// end in the middle of a request or response, and are rejected while the line is down.
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import type { Random } from "./random.ts";

/** How bad a line is. */
export interface LineQuality {
  /** Share of connections that are cut. */
  cuts: number;
  /** The maximum of bytes, in one direction, before a connection is cut. */
  cutWithinBytes: number;
}

/** A TCP forwarder on its own port. */
export class BadLine {
  /** Whether connections are accepted. */
  isUp = true;
  /** How many connections were cut. */
  cutCount = 0;
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
    public quality: LineQuality,
  ) {}

  /**
   * Opens a line.
   * @param portOf returns the server's port, for each connection
   * @param random decides what is cut, and where
   */
  static async open(portOf: () => number, random: Random, quality: LineQuality): Promise<BadLine> {
    const server = createServer((phone) => line.forward(phone, portOf(), random));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const line = new BadLine(server, `http://127.0.0.1:${port}`, quality);
    return line;
  }

  /** Closes the line and its connections. */
  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise<void>((done) => {
      this.server.close(() => done());
    });
  }

  private forward(phone: Socket, port: number, random: Random): void {
    const { cuts, cutWithinBytes } = this.quality;
    if (!this.isUp) {
      phone.destroy();
      return;
    }
    const isCut = random.chance(cuts);
    const isUpward = random.chance(0.5);
    // Half of the cut responses lose all bytes: the server has done what was requested, but the phone does not know.
    const budget = !isUpward && random.chance(0.5) ? 0 : random.between(0, cutWithinBytes);
    const server = connect(port, "127.0.0.1");
    const end = () => {
      phone.destroy();
      server.destroy();
      this.open.delete(phone);
      this.open.delete(server);
    };
    for (const [from, to, isLimited] of [
      [phone, server, isCut && isUpward],
      [server, phone, isCut && !isUpward],
    ] as const) {
      this.open.add(from);
      let passed = 0;
      from.on("data", (bytes: Buffer) => {
        passed += bytes.length;
        if (isLimited && passed > budget) {
          this.cutCount += 1;
          const rest = bytes.length - (passed - budget);
          if (rest > 0 && !to.destroyed) to.write(bytes.subarray(0, rest), end);
          else end();
          return;
        }
        if (!to.write(bytes)) {
          from.pause();
          to.once("drain", () => from.resume());
        }
      });
      from.on("end", () => to.end());
      from.on("error", end);
      from.on("close", () => {
        this.open.delete(from);
        to.end();
      });
    }
  }
}
