// Accounts with devices in an in-memory database, and a push service that the test controls.
import type {
  DeliveryOutcome,
  PushChannel,
  PushMessage,
  PushTarget,
} from "../../../../src/features/messaging/notifications/channels/channel.ts";
import type { TransactionBody } from "../../../../src/db/transaction.ts";
import { openNotifications } from "../../../../src/features/messaging/notifications/open.ts";
import type { PushChannelSet } from "../../../../src/features/messaging/notifications/types.ts";
import type { DeviceRef, Principal } from "../../../../src/features/accounts/auth/principal.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { memoryDatabase, TestClock } from "../../accounts/rate-limits/support.ts";

/** One attempt, as the push service receives it. It ends when the test calls `response`. */
export interface Attempt {
  readonly target: PushTarget;
  readonly message: PushMessage;
  readonly signal: AbortSignal;
  response(outcome: DeliveryOutcome): void;
}

/** A push service. Each attempt waits for the test, unless `reply` returns an outcome. */
export class FakeChannels implements PushChannelSet {
  readonly providers = ["fcm"];
  readonly vapidPublicKey = "key";
  readonly attempts: Attempt[] = [];
  /** If it returns an outcome, the attempt ends at once. */
  reply: (target: PushTarget, message: PushMessage) => DeliveryOutcome | undefined = () => ({ state: "delivered" });
  #waiting: (() => void)[] = [];

  readonly #channel: PushChannel = {
    name: "fcm",
    deliver: (target, message, signal) => {
      const { promise, resolve } = Promise.withResolvers<DeliveryOutcome>();
      this.attempts.push({ target, message, signal, response: resolve });
      const reply = this.reply(target, message);
      if (reply !== undefined) resolve(reply);
      for (const wake of this.#waiting.splice(0)) wake();
      return promise;
    },
  };

  pick({ token }: PushTarget): PushChannel | undefined {
    return token.startsWith("nowhere") ? undefined : this.#channel;
  }

  async checkToken(): Promise<void> {}

  /** The nth attempt, counted from 1, as soon as it is made. */
  async attempt(count: number): Promise<Attempt> {
    for (;;) {
      const attempt = this.attempts[count - 1];
      if (attempt !== undefined) return attempt;
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  /** Token and body of all attempts so far. */
  get sent(): string[] {
    return this.attempts.map(({ target, message }) => `${target.token}: ${message.body}`);
  }
}

/** The whole feature with an in-memory database. */
export function notificationBench(given: { clock?: TestClock; attemptMs?: number } = {}) {
  const clock = given.clock ?? new TestClock();
  const { db, writer } = memoryDatabase();
  const channels = new FakeChannels();
  const settings = new Map<number, string>();
  const open = () =>
    openNotifications({
      db,
      writer,
      clock,
      log: silentLog,
      users: { settingsJson: (accountId) => settings.get(accountId) ?? "{}" },
      channels,
      // The default: the shortest delays are 5 s, then 10 s.
      backoff: { firstMs: 10_000, maxMs: 3_600_000 },
      ...(given.attemptMs !== undefined && { attemptMs: given.attemptMs }),
    });
  let parts = open();

  const bench = {
    clock,
    db,
    writer,
    channels,
    settings,
    get notifications() {
      return parts.notifications;
    },
    get triggers() {
      return parts.triggers;
    },
    get dispatcher() {
      return parts.dispatcher;
    },
    get browserPush() {
      return parts.browserPush;
    },
    /** Like a restart after a crash: only the database remains. */
    async restart() {
      await parts.dispatcher.close();
      parts = open();
      parts.dispatcher.start();
    },

    account(name = "ann"): Principal {
      const { id = 0 } =
        db.sqlite
          .query<{ id: number }, [string]>(
            `INSERT INTO users (public_id, email, email_key, name, role, plan, password_hash, created_at)
             VALUES (?1, ?1, ?1, ?1, 'user', 'free', '', 0) RETURNING id`,
          )
          .get(name) ?? {};
      return {
        user: {
          id,
          publicId: name,
          email: name,
          name,
          role: "user",
          plan: "free",
          quotaBytes: undefined,
          disabledAtMs: null,
          createdAtMs: 0,
        },
        session: {
          publicId: "s",
          originId: "s",
          kind: "mobile",
          createdAtMs: 0,
          expiresAtMs: 0,
          lastSeenAtMs: 0,
          userAgent: null,
          clientAddress: null,
        },
      };
    },

    /** A signed-in device, whose name is its id. */
    device({ user }: Principal, publicId: string): DeviceRef {
      const { id = 0 } =
        db.sqlite
          .query<{ id: number }, [number, string]>(
            `INSERT INTO devices (user_id, public_id, name, platform, registered_at, last_active_at)
             VALUES (?1, ?2, ?2, 'android', 0, 0) RETURNING id`,
          )
          .get(user.id, publicId) ?? {};
      db.sqlite
        .query(
          `INSERT INTO sessions (public_id, user_id, kind, created_at, expires_at, last_seen_at, device_id)
           VALUES (?1, ?2, 'mobile', 0, 9e15, 0, ?3)`,
        )
        .run(`${user.id}-${publicId}`, user.id, id);
      return { id, publicId, name: publicId };
    },

    /** Like {@link device}, with the push token `publicId`. */
    async reachable(principal: Principal, publicId: string): Promise<DeviceRef> {
      const device = bench.device(principal, publicId);
      await parts.notifications.register(principal, { deviceId: publicId, pushToken: publicId });
      return device;
    },

    async push(principal: Principal, body: string, deviceId?: string) {
      return parts.notifications.push(principal, { title: "t", body, deviceId });
    },

    /** Bodies in the inbox of a device, newest first. */
    inbox(principal: Principal, device: DeviceRef): string[] {
      return parts.notifications.list(principal, device, 1, 100).items.map(({ body }) => body);
    },

    async transaction(body: TransactionBody<void>): Promise<void> {
      await writer.run(body);
    },

    /** The states of all deliveries, in the order of their creation. */
    states(): string[] {
      return db.sqlite
        .query<{ state: string }, []>("SELECT state FROM push_deliveries ORDER BY id")
        .all()
        .map(({ state }) => state);
    },

    /** Resolves when no message is due and no write is waiting. */
    async idle(): Promise<void> {
      for (;;) {
        const due = db.sqlite
          .query<{ count: number }, [number]>("SELECT count(*) AS count FROM push_targets WHERE next_at <= ?1")
          .get(clock.nowMs());
        if (due?.count === 0 && writer.waiting === 0) return;
        await new Promise((done) => setImmediate(done));
      }
    },
  };
  return bench;
}

/** The data of a file in events. */
export function fileFacts(name: string) {
  return { publicId: `file_${name}`, name, folder: "/Camera", sizeBytes: 1, mediaType: "image/jpeg", digest: "00" };
}
