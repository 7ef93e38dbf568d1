import { toTimestamp } from "../../../lib/clock.ts";
import type { InboxItem, Sent } from "./types.ts";

/** A message of the inbox as the API names it. */
export function presentNotification(item: InboxItem) {
  const { publicId: id, category, title, body, data, createdAtMs, readAtMs } = item;
  const readAt = readAtMs === null ? null : toTimestamp(readAtMs);
  return { id, category, title, body, data, createdAt: toTimestamp(createdAtMs), readAt };
}

/** What became of a message, device by device. */
export function presentSent({ publicId, deliveries }: Sent) {
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
