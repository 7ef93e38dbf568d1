import { toTimestamp } from "../../../lib/clock.ts";
import type { InboxItem, SentMessage } from "./types.ts";

/** A message in the inbox, as in the API. */
export function presentNotification(item: InboxItem) {
  const { publicId: id, category, title, body, data, createdAtMs, readAtMs } = item;
  const readAt = readAtMs === null ? null : toTimestamp(readAtMs);
  return { id, category, title, body, data, createdAt: toTimestamp(createdAtMs), readAt };
}

/** A sent message, as in the API: the status for each device. */
export function presentSent({ publicId, deliveries }: SentMessage) {
  return {
    notificationId: publicId,
    deliveries: deliveries.map(({ deviceId, status, provider, deliverAtMs }) => ({
      deviceId,
      status,
      provider,
      ...(deliverAtMs !== null && { deliverAt: toTimestamp(deliverAtMs) }),
    })),
  };
}
