/**
 * Web Push for sign-ins in browsers. The subscription belongs to a hidden device of the sign-in. A trigger of the
 * database deletes it with the last session of the sign-in.
 */
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import { say } from "../../../translations/say.ts";
import type { SessionPrincipal } from "../../accounts/auth/principal.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { NotificationChange, NotificationPreferences } from "../../accounts/users/settings.ts";
import { looksLikeSubscription } from "./channels/web-push.ts";
import { preferencesInForce } from "./preferences.ts";
import { browserQueries } from "./queries.ts";
import type { NotificationService } from "./service.ts";
import type { Registration } from "./types.ts";

/** Dependencies of {@link BrowserPush}. */
interface BrowserPushOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly notifications: NotificationService;
  readonly users: Pick<UserService, "settingsJson">;
}

/** What a browser needs to know before it subscribes, and what its person has set. */
export interface BrowserConfig {
  readonly vapidPublicKey: string;
  readonly providers: readonly string[];
  /** Whether messages are sent to the browser of this sign-in. */
  readonly isSubscribed: boolean;
  readonly preferences: NotificationPreferences;
}

/** A subscription to register; absent preferences stay unchanged. */
interface NewSubscription {
  /** The JSON of the browser's subscription. */
  readonly pushToken: string;
  readonly preferences?: NotificationChange | undefined;
}

/** Browsers of one account that get notifications. More sign-ins than this are forgotten ones. */
const BROWSERS_MAX = 20;
const PLATFORM = "browser";

/** Subscribes sign-ins to notifications, and ends that. */
export class BrowserPush {
  readonly #options: BrowserPushOptions;
  readonly #queries: ReturnType<typeof browserQueries>;

  constructor(options: BrowserPushOptions) {
    this.#options = options;
    this.#queries = browserQueries(options.db.sqlite);
  }

  config({ user, session }: SessionPrincipal): BrowserConfig {
    const { notifications, users } = this.#options;
    const target = this.#queries.target.get(session.originId);
    const preferences = preferencesInForce(target?.preferences ?? null, users.settingsJson(user.id));
    return { ...notifications.config, isSubscribed: (target?.token ?? null) !== null, preferences };
  }

  /**
   * Sends messages of the account to this browser from now on; durable on return.
   * @throws AppError invalid_field | forbidden_target; revoked_token if the sign-in ended during the call
   */
  async subscribe(principal: SessionPrincipal, { pushToken, preferences }: NewSubscription): Promise<Registration> {
    const { writer, clock, notifications } = this.#options;
    const { user, session } = principal;
    if (!looksLikeSubscription(pushToken)) {
      throw invalidField("pushToken", say`Send JSON.stringify(subscription), as the browser returns it.`);
    }
    await notifications.checkPushToken(pushToken, "pushToken");
    return writer.run((tx) => {
      // The trigger that deletes the row has run already if the session ended during the check.
      if (this.#queries.session.get(session.publicId) === null) {
        throw new AppError("revoked_token", say`You were signed out. Sign in again.`);
      }
      const nowMs = clock.nowMs();
      const publicId = `browser-${session.originId}`;
      const found = this.#queries.device.get(session.originId);
      if (found === null) this.#queries.makeRoom.run(user.id, BROWSERS_MAX - 1);
      const device = found ?? this.#queries.insert.get(user.id, publicId, session.originId, nowMs);
      invariant(device !== null, "an inserted row is returned");
      notifications.registerPushToken(tx, user.id, device, pushToken, PLATFORM);
      if (preferences !== undefined) notifications.mergePreferences(tx, device, preferences);
      const { preferences: inForce } = this.config(principal);
      return { deviceId: publicId, platform: PLATFORM, provider: "web-push", preferences: inForce };
    });
  }

  /** Sends no more messages to this browser; durable on return. */
  async unsubscribe(principal: SessionPrincipal): Promise<BrowserConfig> {
    await this.#options.writer.run(() => void this.#queries.remove.run(principal.session.originId));
    return this.config(principal);
  }
}
