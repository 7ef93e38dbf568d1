// A local mail server with real SMTP and TLS. Tests decide how it treats each message, and read received messages as a
// mail program would.
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { eventually } from "./expect.ts";

const fixtures = join(import.meta.dir, "../fixtures/tls");

/** A self-signed certificate for `127.0.0.1`. A client must be configured to trust it. */
export const certificateFile = join(fixtures, "certificate.pem");

/** What the server does with a message: accept it, reject it with a status, or drop the connection. */
export type MailBehavior = "accept" | { status: number; at: "recipient" | "data" } | "cut";

/** A message that the server accepted. */
export interface ReceivedMail {
  readonly to: string[];
  readonly from: string;
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
  readonly raw: string;
  readonly parsed: Email;
}

/** The mail server of a test. */
export class MailServer {
  /** Accepted messages, in order. */
  readonly received: ReceivedMail[] = [];
  /** Recipients of all attempts, accepted or not, in order. */
  readonly attempts: string[] = [];
  /** How the next messages are treated, one entry each. When empty, the server accepts them. */
  behaviors: MailBehavior[] = [];
  /** How messages to certain recipients are treated. Takes precedence over `behaviors`. */
  readonly behaviorByRecipient = new Map<string, MailBehavior>();
  password = "mail secret";
  #server: SMTPServer | undefined;
  #port = 0;
  readonly #options: SMTPServerOptions;
  readonly #sockets = new Set<Socket>();

  constructor(options: SMTPServerOptions = {}) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  /** Starts to listen, on the same port as before if there was one. */
  async start(): Promise<void> {
    const server = new SMTPServer({
      key: readFileSync(join(fixtures, "key.pem"), "utf8"),
      cert: readFileSync(certificateFile, "utf8"),
      authOptional: true,
      disableReverseLookup: true,
      closeTimeout: 100,
      logger: false,
      onAuth: (auth, _session, callback) => {
        if (auth.password === this.password) callback(null, { user: auth.username ?? "" });
        else callback(new Error("wrong"));
      },
      onRcptTo: (address, _session, callback) => {
        this.attempts.push(address.address);
        const behavior = this.#next(address.address, "recipient");
        if (typeof behavior === "object") callback(rejection(behavior.status));
        else callback();
      },
      onData: (stream, session, callback) => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        const behavior = this.#next(to[0] ?? "", "data");
        if (behavior === "cut") {
          stream.once("data", () => this.#cut());
          stream.resume();
          return;
        }
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          if (typeof behavior === "object") {
            callback(rejection(behavior.status));
            return;
          }
          void this.#accept(Buffer.concat(chunks).toString("utf8"), to, session);
          callback();
        });
      },
      ...this.#options,
    });
    server.on("error", () => {});
    server.server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve, reject) => {
      server.server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#server = server;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    this.#port = (server.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.#cut();
    await new Promise<void>((resolve) => server.close(resolve));
    // Closing ends asynchronously: wait until the port rejects connections.
    await eventually("the mail server has stopped", () => isRejected(this.#port));
  }

  /** Waits until the server has accepted this many messages in total. */
  async waitForMails(count: number): Promise<ReceivedMail[]> {
    await eventually(`${count} messages accepted`, () => this.received.length >= count);
    return this.received;
  }

  /** Waits for a message to an address. @param count which one, counted from 1 */
  async waitForMail(address: string, count = 1): Promise<ReceivedMail> {
    const found = () => this.received.filter(({ to }) => to.includes(address));
    await eventually(`${count} messages to ${address}`, () => found().length >= count);
    const mail = found()[count - 1];
    if (mail === undefined) throw new Error("no message");
    return mail;
  }

  async #accept(raw: string, to: string[], { envelope, secure, user }: SMTPServerSession): Promise<void> {
    const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
    this.received.push({ to, from, isEncrypted: secure, user, raw, parsed: await PostalMime.parse(raw) });
  }

  #next(address: string, at: "recipient" | "data"): MailBehavior {
    const own = this.behaviorByRecipient.get(address);
    const behavior = own ?? this.behaviors[0] ?? "accept";
    const isHere =
      at === "data" ? behavior === "cut" || isAt(behavior, at) || behavior === "accept" : isAt(behavior, at);
    if (!isHere) return "accept";
    if (own === undefined) this.behaviors.shift();
    return behavior;
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

function isAt(behavior: MailBehavior, at: "recipient" | "data"): boolean {
  return typeof behavior === "object" && behavior.at === at;
}

function rejection(status: number): Error {
  return Object.assign(new Error(`${status >= 500 ? "5" : "4"}.1.1 not now, says the test`), { responseCode: status });
}

async function isRejected(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", () => resolve(true));
  });
}
