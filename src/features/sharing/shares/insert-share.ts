import type { Transaction } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ShareRows } from "./queries.ts";
import type { CheckedRequest } from "./settings.ts";
import { summarizeShare } from "./summarize.ts";
import type { ShareTokens } from "./tokens.ts";
import type { Recipient, Share, SharedItem } from "./types.ts";

/** Dependencies of {@link insertShare}. */
interface InsertOptions {
  readonly rows: ShareRows;
  readonly tokens: ShareTokens;
  readonly clock: Clock;
  readonly events: Events;
}

/** A new share with checked settings. The caller has checked permissions. */
interface InsertedShare {
  readonly user: User;
  readonly node: SharedItem;
  readonly checked: Omit<CheckedRequest, "password" | "recipientEmailKey">;
  readonly recipient: Recipient;
  readonly passwordHash: string | null;
  readonly pinnedVersion: number | null;
}

/** Stores a new share, and notifies a recipient that has an account. In the caller's transaction. */
export function insertShare(
  tx: Transaction,
  { rows, tokens, clock, events }: InsertOptions,
  { user, node, checked, recipient, passwordHash, pinnedVersion }: InsertedShare,
): Share {
  const { emailKey: recipientEmailKey, userId: recipientId, groupId } = recipient;
  const { nonce, hash } = tokens.make();
  const nowMs = clock.nowMs();
  const publicId = newId("shr", nowMs);
  const identity = {
    publicId,
    accountId: user.id,
    nodeId: node.kind === "album" ? null : node.id,
    albumId: node.kind === "album" ? node.id : null,
    nonce,
    hash,
    createdAtMs: nowMs,
    pinnedVersion,
    recipientId,
    groupId,
  };
  rows.insert(identity, { ...checked, recipientEmailKey, passwordHash });
  const share = rows.find(publicId);
  if (share === undefined) throw new Error("a share that was just written exists");
  const summary = summarizeShare(share, node);
  events.emit(tx, "share.created", { accountId: user.id, share: summary });
  if (recipientId !== null) {
    const owner = { ownerId: user.publicId, ownerName: user.name };
    events.emit(tx, "share.received", { accountId: recipientId, share: summary, ...owner });
  }
  return share;
}
