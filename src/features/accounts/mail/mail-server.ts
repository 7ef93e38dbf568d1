import type { Config } from "../../../config/settings.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import type { Log } from "../../../lib/log.ts";
import type { Outbound } from "../../../net/outbound.ts";
import { type Message, say } from "../../../translations/say.ts";
import { testMail } from "./mail-templates.ts";
import { openSmtp, type Smtp } from "./smtp.ts";

/** Dependencies of {@link MailServer}. */
interface MailServerOptions {
  /** The live configuration. */
  readonly config: Pick<Config, "mail" | "publicUrl">;
  /** Whether an administrator chose the host in the page. */
  readonly isHostStored: () => boolean;
  /** Whether any setting of the mail server was changed in the page. */
  readonly isStored: () => boolean;
  readonly outbound: Pick<Outbound, "resolveHost">;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a test of the mail server waits. */
const TEST_MS_MAX = 20_000;

/** The result of a test mail. Not why a server could not be reached: that would show what is in the network. */
export type TestResult = "sent" | "rejected" | "unreachable";

/** The mail server of the configuration, opened again when its settings change. */
export class MailServer {
  readonly #options: MailServerOptions;
  #current: Smtp | undefined;
  #problem: Message | undefined;

  /** @throws StartupError if the operator's settings of it contradict each other */
  constructor(options: MailServerOptions) {
    this.#options = options;
    this.reopen();
  }

  /** Undefined if no mail is sent. */
  get current(): Smtp | undefined {
    return this.#current;
  }

  /** Why the settings can't be used; undefined if they can. */
  get problem(): Message | undefined {
    return this.#problem;
  }

  /**
   * Uses the settings of now. If stored ones can't be used, no mail is sent.
   * @throws StartupError if the operator's settings contradict each other
   */
  reopen(): void {
    const { config, isStored, log } = this.#options;
    this.#problem = undefined;
    try {
      this.#current = this.check(config);
    } catch (error) {
      if (!(error instanceof StartupError) || !isStored()) throw error;
      this.#current = undefined;
      this.#problem = error.text;
      log.warn("The stored settings of the mail server can't be used; no email is sent.", { problem: error.message });
    }
  }

  /** Opens the mail server of a configuration without using it. @throws StartupError if it can't be used */
  check(config: Pick<Config, "mail" | "publicUrl">): Smtp | undefined {
    const { isHostStored, outbound } = this.#options;
    return openSmtp(config, async (host, port) => (isHostStored() ? outbound.resolveHost(host, port) : undefined));
  }

  /**
   * Sends a test to one address, at once.
   * @throws AppError invalid_request if no mail server is set
   */
  async sendTest(recipient: string, language: string): Promise<TestResult> {
    const { clock } = this.#options;
    const smtp = this.#current;
    if (smtp === undefined) {
      throw new AppError("invalid_request", say`No mail server is set up. Set its address and the sender first.`);
    }
    const nowMs = clock.nowMs();
    const mail = {
      id: 0,
      kind: "other",
      recipient,
      recipientKey: recipient,
      messageId: `${newSecretToken(128)}@${smtp.sender.domain}`,
      ...testMail(language),
      attempts: 0,
      createdAt: nowMs,
      expiresAt: nowMs + TEST_MS_MAX,
    };
    const late = Bun.sleep(TEST_MS_MAX).then(() => ({ state: "unreachable" as const }));
    const { state } = await Promise.race([smtp.deliver(mail), late]);
    if (state === "sent") return "sent";
    return state === "unreachable" ? "unreachable" : "rejected";
  }
}
