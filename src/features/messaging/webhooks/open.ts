import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { Outbound } from "../../../net/outbound.ts";
import { WebhookDispatcher } from "./dispatcher.ts";
import { DownloadRecorder } from "./downloads.ts";
import { WebhookOutbox } from "./outbox.ts";
import { WebhookRecorder, type WebhookRecorderOptions } from "./recorder.ts";
import { WebhookService } from "./service.ts";
import { Subscriptions } from "./subscriptions.ts";

/** Dependencies of {@link openWebhooks}. */
interface WebhooksOptions extends Pick<WebhookRecorderOptions, "recordOf" | "deviceRecordOf"> {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly outbound: Outbound;
  /** The server's key, from which secrets are derived. */
  readonly key: Uint8Array;
}

/** Builds the parts of this feature, in order of dependency. */
export function openWebhooks(options: WebhooksOptions) {
  const { sqlite, clock } = options;
  const outbox = new WebhookOutbox(sqlite, clock);
  const subscriptions = new Subscriptions(sqlite);
  const recorder = new WebhookRecorder({ ...options, outbox, subscriptions });
  const downloads = new DownloadRecorder({ ...options, recorder });
  const dispatcher = new WebhookDispatcher({ ...options, outbox });
  const webhooks = new WebhookService({ ...options, outbox, dispatcher, subscriptions });
  return { webhooks, recorder, downloads, dispatcher, subscriptions };
}
