/**
 * Web Push for sign-ins in browsers. The subscription belongs to a hidden device of the sign-in. A trigger of the
 * database deletes it with the last session of the sign-in.
 */
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { SessionPrincipal } from "../../accounts/auth/principal.ts";
import { looksLikeSubscription } from "./channels/web-push.ts";
import { browserQueries } from "./queries.ts";
import type { NotificationService } from "./service.ts";

/** Dependencies of {@link BrowserPush}. */
interface BrowserPushOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly notifications: NotificationService;
}

/** What a browser needs to know before it subscribes. */
export interface BrowserPushState {
  readonly vapidPublicKey: string;
  /** Whether messages are sent to the browser of this sign-in. */
  readonly isSubscribed: boolean;
}

/** Subscribes sign-ins to notifications, and ends that. */
export class BrowserPush {
  readonly #options: BrowserPushOptions;
  readonly #queries: ReturnType<typeof browserQueries>;

  constructor(options: BrowserPushOptions) {
    this.#options = options;
    this.#queries = browserQueries(options.db.sqlite);
  }

  state({ session }: SessionPrincipal): BrowserPushState {
    const { vapidPublicKey } = this.#options.notifications.config;
    return { vapidPublicKey, isSubscribed: this.#queries.token.get(session.originId) !== null };
  }

  /**
   * Sends messages of the account to this browser from now on; durable on return.
   * @param subscription the JSON of the browser's subscription
   * @throws AppError invalid_field | forbidden_target; revoked_token if the sign-in ended during the call
   */
  async subscribe(principal: SessionPrincipal, subscription: string): Promise<BrowserPushState> {
    const { writer, clock, notifications } = this.#options;
    const { user, session } = principal;
    if (!looksLikeSubscription(subscription)) {
      throw invalidField("subscription", "Send JSON.stringify(subscription), as the browser returns it.");
    }
    await notifications.checkPushToken(subscription, "subscription");
    await writer.run((tx) => {
      // The trigger that deletes the row has run already if the session ended during the check.
      if (this.#queries.session.get(session.publicId) === null) {
        throw new AppError("revoked_token", "You were signed out. Sign in again.");
      }
      const nowMs = clock.nowMs();
      const found = this.#queries.device.get(session.originId);
      const device = found ?? this.#queries.insert.get(user.id, `browser-${session.originId}`, session.originId, nowMs);
      if (device !== null) notifications.registerPushToken(tx, user.id, device, subscription, "browser");
    });
    return this.state(principal);
  }

  /** Sends no more messages to this browser; durable on return. */
  async unsubscribe(principal: SessionPrincipal): Promise<BrowserPushState> {
    await this.#options.writer.run(() => void this.#queries.remove.run(principal.session.originId));
    return this.state(principal);
  }
}
