import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { UserService } from "../../accounts/users/service.ts";
import { Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { Outbox } from "./outbox.ts";
import { BrowserPush } from "./browser-push.ts";
import { NotificationService } from "./service.ts";
import { NotificationTriggers } from "./triggers.ts";
import type { PushChannelSet } from "./types.ts";
import { UploadBursts } from "./upload-bursts.ts";

/** Dependencies of {@link openNotifications}. */
interface NotificationParts extends Pick<DispatcherOptions, "attemptMs" | "backoff"> {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly users: Pick<UserService, "settingsJson">;
  readonly channels: PushChannelSet;
}

/** Builds the parts of the feature around one outbox. Nothing is sent before the dispatcher is started. */
export function openNotifications(parts: NotificationParts) {
  const outbox = new Outbox(parts.db);
  const dispatcher = new Dispatcher({ ...parts, outbox });
  const notifications = new NotificationService({ ...parts, outbox, onQueued: () => dispatcher.wake() });
  const bursts = new UploadBursts({ ...parts, outbox, notifications });
  const triggers = new NotificationTriggers({ ...parts, notifications, bursts });
  const browserPush = new BrowserPush({ ...parts, notifications });
  return { notifications, triggers, dispatcher, browserPush };
}
