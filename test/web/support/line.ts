// The connection between a page and its server, controlled by a test: it can be stalled in the middle of an upload, cut
// and restored, and the server behind it may return on another port.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Forwards connections to a server, as long as the test allows. */
export class Line {
  private readonly sockets = new Set<Socket>();
  /** Stalled connections, and how to resume them. */
  private readonly stalled = new Map<Socket, () => void>();
  private readonly unanswered = new WeakSet<Socket>();
  private limitBytes = Number.POSITIVE_INFINITY;
  /** Counts the limits: each one applies to what comes after it was set. */
  private limits = 0;
  private isCut = false;
  private waiters: (() => void)[] = [];

  private constructor(
    private readonly listener: Server,
    private readonly targetPort: () => number,
  ) {
    listener.on("connection", (socket) => this.accept(socket));
  }

  /** @param targetPort read for each connection */
  static async open(targetPort: () => number): Promise<Line> {
    const listener = createServer({ allowHalfOpen: false });
    const line = new Line(listener, targetPort);
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    return line;
  }

  /** The origin at which pages reach the server through this connection. */
  get origin(): string {
    // A TCP listener has an address with a port.
    return `http://127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  /** Lets each connection carry this many more bytes to the server, then stalls it. */
  stallAfter(bytes: number): void {
    this.limitBytes = bytes;
    this.limits += 1;
  }

  /** Resolves when a connection is stalled. */
  async untilStalled(): Promise<void> {
    while (this.stalled.size === 0) await new Promise<void>((resolve) => void this.waiters.push(resolve));
  }

  /** Stalled connections continue when they are released, but are cut before the page gets the response. */
  loseResponses(): void {
    for (const socket of this.stalled.keys()) this.unanswered.add(socket);
  }

  /** Lets everything continue. */
  release(): void {
    this.limitBytes = Number.POSITIVE_INFINITY;
    const resumeAll = [...this.stalled.values()];
    this.stalled.clear();
    for (const resume of resumeAll) resume();
  }

  /** Breaks all connections and accepts no new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.listener.close();
    await once(this.listener, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.listener.listening) await this.close();
  }

  private accept(client: Socket): void {
    if (this.isCut) {
      client.destroy();
      return;
    }
    const server = connect(this.targetPort(), "127.0.0.1");
    let [limit, passedBytes] = [this.limits, 0];
    const waiting: Buffer[] = [];
    const drop = (): void => {
      for (const socket of [client, server]) {
        socket.destroy();
        this.sockets.delete(socket);
        this.stalled.delete(socket);
      }
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      // Broken connections are intended; the other end notices its own end.
      socket.on("error", drop);
      socket.on("close", drop);
    }
    server.on("data", () => {
      if (this.unanswered.has(client)) this.cut();
    });
    server.pipe(client);
    const pass = (bytes: Buffer): void => {
      passedBytes += bytes.length;
      if (server.write(bytes)) return;
      client.pause();
      server.once("drain", () => {
        if (!this.stalled.has(client)) client.resume();
      });
    };
    client.on("data", (bytes: Buffer) => {
      if (limit !== this.limits) [limit, passedBytes] = [this.limits, 0];
      const isStalled = this.stalled.has(client);
      const room = isStalled ? 0 : Math.max(this.limitBytes - passedBytes, 0);
      if (bytes.length <= room) return pass(bytes);
      // One packet may be more than a whole file: the rest of it waits here.
      if (room > 0) pass(bytes.subarray(0, room));
      waiting.push(bytes.subarray(room));
      if (isStalled) return undefined;
      return this.stall(client, () => {
        client.resume();
        for (const rest of waiting.splice(0)) pass(rest);
      });
    });
  }

  private stall(socket: Socket, resume: () => void): void {
    socket.pause();
    this.stalled.set(socket, resume);
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}
