/** Creates, changes, tests and deletes webhooks, and lists their deliveries. */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Outbound } from "../../../net/outbound.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { GIVE_UP_AFTER_MS, type WebhookDispatcher } from "./dispatcher.ts";
import type { WebhookOutbox } from "./outbox.ts";
import { deliveryQueries, type WebhookRow, webhookQueries } from "./queries.ts";
import { toDelivery, toWebhook } from "./rows.ts";
import { newNonce, secretOf } from "./secrets.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { type Delivery, TEST_EVENT, type Webhook, type WebhookEvent } from "./types.ts";

/** Dependencies of {@link WebhookService}. */
interface WebhookServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly outbound: Pick<Outbound, "checkTarget">;
  readonly outbox: WebhookOutbox;
  readonly dispatcher: WebhookDispatcher;
  readonly subscriptions: Subscriptions;
  /** The server's key, from which secrets are derived. */
  readonly key: Uint8Array;
}

/** The changes of a webhook; absent fields stay unchanged. */
interface WebhookChanges {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEvent[] | undefined;
  readonly isActive?: boolean | undefined;
}

/** A webhook and its new secret, which is shown only once. */
export interface WithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** The most webhooks of an account. */
const WEBHOOKS_MAX = 20;
/** The most concurrent test deliveries of an account: a slow target occupies a connection during each of them. */
const TESTS_MAX = 4;
/** How long a replaced secret still signs deliveries, in addition to the new one. */
const FORMER_SECRET_MS = 24 * 60 * 60_000;
/** How long finished deliveries are retained. */
const LOG_MS = 30 * 24 * 60 * 60_000;

/** Manages the webhooks of accounts. Webhooks of other accounts are `not_found`, like unknown ones. */
export class WebhookService {
  readonly #options: WebhookServiceOptions;
  readonly #webhooks: ReturnType<typeof webhookQueries>;
  readonly #deliveries: ReturnType<typeof deliveryQueries>;
  /** The number of test deliveries in progress, by account. */
  readonly #tests = new Map<number, number>();

  constructor(options: WebhookServiceOptions) {
    this.#options = options;
    this.#webhooks = webhookQueries(options.sqlite);
    this.#deliveries = deliveryQueries(options.sqlite);
  }

  /** All webhooks of an account, oldest first. */
  list(user: User): Webhook[] {
    return this.#webhooks.ofAccount.all(user.id).map(toWebhook);
  }

  /** @throws AppError not_found */
  get(user: User, publicId: string): Webhook {
    return toWebhook(this.#row(user, publicId));
  }

  /**
   * @throws AppError forbidden_target; role for events that only administrators receive; invalid_request for too many
   */
  async create(
    user: User,
    input: { readonly url: string; readonly events: readonly WebhookEvent[]; readonly isActive: boolean },
  ): Promise<WithSecret> {
    const { writer, clock, outbound, subscriptions, key } = this.#options;
    checkEvents(user, input.events);
    await outbound.checkTarget(input.url, "url");
    const nonce = newNonce();
    const nowMs = clock.nowMs();
    const publicId = newId("whk", nowMs);
    return writer.run((tx) => {
      if (this.#webhooks.ofAccount.all(user.id).length >= WEBHOOKS_MAX) {
        throw new AppError(
          "invalid_request",
          say`You can have at most ${WEBHOOKS_MAX} webhooks. Delete one that you don't need.`,
          { limit: WEBHOOKS_MAX },
        );
      }
      const events = JSON.stringify([...new Set(input.events)]);
      this.#webhooks.insert.run(publicId, user.id, input.url, events, nonce, input.isActive ? 1 : 0, nowMs);
      subscriptions.change(tx, user.id);
      return { webhook: this.get(user, publicId), secret: secretOf(key, nonce) };
    });
  }

  /**
   * Changes a webhook, and makes its postponed deliveries due at once.
   * @throws AppError not_found | forbidden_target; role for events that only administrators receive
   */
  async update(user: User, publicId: string, changes: WebhookChanges): Promise<Webhook> {
    const { writer, clock, outbound, outbox, subscriptions, dispatcher } = this.#options;
    this.get(user, publicId);
    if (changes.events !== undefined) checkEvents(user, changes.events);
    if (changes.url !== undefined) await outbound.checkTarget(changes.url, "url");
    const changed = await writer.run((tx) => {
      const current = this.get(user, publicId);
      const { url = current.url, events = current.events, isActive = current.isActive } = changes;
      const names = JSON.stringify([...new Set(events)]);
      this.#webhooks.update.run(current.id, url, names, isActive ? 1 : 0, clock.nowMs());
      subscriptions.change(tx, user.id);
      return this.get(user, publicId);
    });
    // oxlint-disable-next-line no-await-in-loop -- other transactions can run between the batches
    while (await writer.run(() => outbox.retryNow(changed.id)));
    dispatcher.wake();
    return changed;
  }

  /** Gives a webhook a new secret. For a day, deliveries are signed with both secrets. @throws AppError not_found */
  async renewSecret(user: User, publicId: string): Promise<WithSecret> {
    const { writer, clock, key } = this.#options;
    const nonce = newNonce();
    return writer.run(() => {
      const { id } = this.#row(user, publicId);
      const nowMs = clock.nowMs();
      this.#webhooks.setSecret.run(id, nonce, nowMs + FORMER_SECRET_MS, nowMs);
      return { webhook: this.get(user, publicId), secret: secretOf(key, nonce) };
    });
  }

  /**
   * Deletes a webhook and its waiting deliveries. Deliveries may be many, so they are deleted in batches. Until the
   * last is deleted, the webhook still exists, turned off.
   * @throws AppError not_found
   */
  async remove(user: User, publicId: string): Promise<void> {
    const { writer, outbox, subscriptions } = this.#options;
    const { id } = await writer.run((tx) => {
      const row = this.#row(user, publicId);
      outbox.stop(row.id, "The webhook was deleted.");
      subscriptions.change(tx, user.id);
      return row;
    });
    // oxlint-disable-next-line no-await-in-loop -- other transactions can run between the batches
    while (await writer.run(() => outbox.removeSome(id)));
    await writer.run((tx) => {
      this.#webhooks.remove.run(this.#row(user, publicId).id);
      subscriptions.change(tx, user.id);
    });
  }

  /** Sends `webhook.test` once, now. @returns the finished delivery @throws AppError not_found | overloaded */
  async test(user: User, publicId: string): Promise<Delivery> {
    const inProgress = this.#tests.get(user.id) ?? 0;
    if (inProgress >= TESTS_MAX) {
      throw new AppError("overloaded", say`Other test deliveries are in progress. Try again in a few seconds.`);
    }
    this.#tests.set(user.id, inProgress + 1);
    try {
      return await this.#sendTest(user, publicId);
    } finally {
      const remaining = (this.#tests.get(user.id) ?? 1) - 1;
      if (remaining > 0) this.#tests.set(user.id, remaining);
      else this.#tests.delete(user.id);
    }
  }

  async #sendTest(user: User, publicId: string): Promise<Delivery> {
    const { writer, clock, outbox, dispatcher } = this.#options;
    const deliveryId = await writer.run((tx) => {
      const { id } = this.#row(user, publicId);
      // A unique ordering key, so that it waits for no other delivery.
      const orderingKey = newId("evt", clock.nowMs());
      return outbox.add(tx, id, { event: TEST_EVENT, orderingKey, data: { id: publicId } });
    });
    if (deliveryId === undefined) {
      throw new AppError(
        "overloaded",
        say`Too many deliveries are waiting for this webhook. Find out why they fail, then try again.`,
      );
    }
    await dispatcher.attempt(deliveryId);
    const row = outbox.read(deliveryId);
    // The webhook was deleted during the test.
    if (row === undefined) throw unknownWebhook();
    return toDelivery(row);
  }

  /** A page of the waiting and finished deliveries, newest first. @throws AppError not_found */
  deliveries(
    user: User,
    publicId: string,
    query: { readonly state: Delivery["state"] | undefined; readonly offset: number; readonly limit: number },
  ): { deliveries: Delivery[]; total: number } {
    const { id } = this.#row(user, publicId);
    const { state = null, offset, limit } = query;
    const count = this.#deliveries.count.get(id, state);
    invariant(count !== null, "a count has a row");
    return { deliveries: this.#deliveries.page.all(id, state, limit, offset).map(toDelivery), total: count.count };
  }

  /** Fails deliveries older than a day and deletes old ones, at most `limit` of each. @returns their number */
  sweep(_tx: Transaction, limit: number): number {
    const { outbox, clock } = this.#options;
    const nowMs = clock.nowMs();
    return outbox.expire(nowMs - GIVE_UP_AFTER_MS, limit) + outbox.sweep(nowMs - LOG_MS, limit);
  }

  #row(user: User, publicId: string): WebhookRow {
    const row = this.#webhooks.byPublicId.get(publicId, user.id);
    if (row === null) throw unknownWebhook();
    return row;
  }
}

function checkEvents(user: User, events: readonly WebhookEvent[]): void {
  if (user.role === "admin" || !events.includes("user.created")) return;
  throw new AppError("role", say`Only administrators can receive user.created. Remove it from events.`);
}

function unknownWebhook(): AppError {
  return new AppError("not_found", say`This webhook was not found. It may already be deleted.`);
}
