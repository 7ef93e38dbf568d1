/**
 * The connection to the mail server, by nodemailer, which no other file imports. A server that the operator chooses may
 * have any address. Certificates are verified, and credentials are never sent unencrypted.
 */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { readPasswordFile } from "../../../config/secrets.ts";
import type { Config } from "../../../config/settings.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { say } from "../../../translations/say.ts";
import type { MailOutcome, MailTransport, StoredMail } from "./types.ts";
import { messageOf } from "../../../lib/error.ts";

const PORTS = { starttls: 587, tls: 465, none: 25 } as const;
const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
/**
 * Statuses with which the server requires something else first (RFC 4954 section 6; RFC 3207 section 4). The mail is
 * not at fault.
 */
const OUR_FAULT = new Set([421, 454, 530, 534, 535, 538]);

/** The sender in the header of mails. */
export interface Sender {
  readonly mailbox: string;
  /** The domain after the @. */
  readonly domain: string;
}

/**
 * Returns the address of a mail server to connect to, or undefined for a server that needs no check. Rejects if this
 * server may not connect to it.
 */
export type ResolveHost = (host: string, port: number) => Promise<string | undefined>;

/** The connection to a mail server, with the sender of all mails. */
export type Smtp = MailTransport & { readonly sender: Sender };

/**
 * The mail server of the configuration.
 * @param resolveHost for a server that an administrator chose in the page; not needed for one that the operator chose
 * @returns undefined if none is set
 * @throws StartupError if the settings contradict each other, or one of their files can't be read
 */
export function openSmtp(config: Pick<Config, "mail" | "publicUrl">, resolveHost?: ResolveHost): Smtp | undefined {
  const { host, from } = config.mail;
  if (host === null && from === null) return undefined;
  if (host === null) throw new StartupError(say`mail.from is set, but mail.host is not. Set both or neither.`);
  if (from === null)
    throw new StartupError(say`mail.host is set, but mail.from is not. Set the sender address in mail.from.`);
  if (config.publicUrl === null) {
    throw new StartupError(
      say`mail.host is set, but publicUrl is not. Links in emails need the public address of the server; the address in a request cannot be trusted. Set publicUrl.`,
    );
  }
  const sender = { mailbox: from, domain: /@([A-Za-z0-9.-]+)>?$/.exec(from)?.[1] ?? "localhost" };
  return new SmtpTransport(smtpOptions(config.mail, host), sender, resolveHost);
}

function smtpOptions(mail: Config["mail"], host: string) {
  const { secure, user } = mail;
  const password = mail.passwordFile === null ? mail.password : readPasswordFile(mail.passwordFile);
  if ((user === null) !== (password === null)) {
    throw new StartupError(
      say`mail.user and mail.password (or mail.passwordFile) must be set together. Set both or neither.`,
    );
  }
  if (user !== null && secure === "none" && !isLoopback(host)) {
    throw new StartupError(
      say`mail.secure is "none", so the password would be sent unencrypted. Set it to "starttls" or "tls", or remove mail.user.`,
    );
  }
  return {
    host,
    port: mail.port === 0 ? PORTS[secure] : mail.port,
    secure: secure === "tls",
    requireTLS: secure === "starttls",
    ignoreTLS: secure === "none",
    ...(user !== null && password !== null && { auth: { user, pass: password } }),
    tls: {
      rejectUnauthorized: true,
      minVersion: "TLSv1.2" as const,
      ...(mail.caFile !== null && { ca: readCertificate(mail.caFile) }),
    },
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // Nothing in a mail refers to a file or an address to be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

class SmtpTransport implements MailTransport {
  readonly sender: Sender;
  readonly #options: ReturnType<typeof smtpOptions>;
  readonly #resolveHost: ResolveHost | undefined;

  constructor(options: ReturnType<typeof smtpOptions>, sender: Sender, resolveHost: ResolveHost | undefined) {
    this.sender = sender;
    this.#options = options;
    this.#resolveHost = resolveHost;
  }

  async deliver(mail: StoredMail): Promise<MailOutcome> {
    try {
      const transport = await this.#open();
      await transport.sendMail({
        from: this.sender.mailbox,
        // Not as text, which would be read as a list.
        to: { name: "", address: mail.recipient },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        date: new Date(mail.createdAt),
        messageId: `<${mail.messageId}>`,
        // Automatic responders do not respond to it (RFC 3834, section 5).
        headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
      });
      return { state: "sent" };
    } catch (error) {
      return outcomeOf(error);
    }
  }

  async probe(): Promise<string | undefined> {
    try {
      const transport = await this.#open();
      await transport.verify();
      return undefined;
    } catch (error) {
      return describe(error);
    }
  }

  /** Loads the library with the first mail: most servers send none, and the start should be fast. */
  async #open() {
    const { createTransport } = await import("nodemailer");
    const { host, port, tls } = this.#options;
    const address = await this.#resolveHost?.(host, port);
    // The certificate of an address is checked by that address.
    if (address === undefined || isIP(host) !== 0) return createTransport(this.#options);
    // The connection goes to the checked address. The certificate is still that of the name.
    return createTransport({ ...this.#options, host: address, tls: { ...tls, servername: host } });
  }
}

/**
 * What an error of the library means for the mail. The server's text may contain anything, so only codes are stored.
 */
export function outcomeOf(error: unknown): MailOutcome {
  const why = describe(error);
  const status = statusOf(error);
  // Errors of greeting, encryption and sign-in concern all mails, regardless of their status code.
  const isOfMail = ["EENVELOPE", "EMESSAGE"].includes(codeOf(error));
  // Rejected by the library itself, before it connected: an address or a size that no server accepts.
  if (isOfMail && status === undefined && responseOf(error) === "") return { state: "refused", why };
  if (!isOfMail || status === undefined || OUR_FAULT.has(status)) return { state: "unreachable", why };
  return { state: status >= 500 ? "refused" : "retry", why };
}

function describe(error: unknown): string {
  const status = statusOf(error);
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(responseOf(error))?.[1];
  return [codeOf(error), status, enhanced].filter((part) => part !== undefined).join(" ");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown cause";
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("responseCode" in error) || typeof error.responseCode !== "number")
    return undefined;
  return error.responseCode >= 400 ? error.responseCode : undefined;
}

function responseOf(error: unknown): string {
  return error instanceof Error && "response" in error && typeof error.response === "string" ? error.response : "";
}

function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = messageOf(error);
    throw new StartupError(`Cannot read the certificate ${path} (mail.caFile): ${why}.`, error);
  }
}
