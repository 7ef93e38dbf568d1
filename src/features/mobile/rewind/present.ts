import { errorItem } from "../../../http/error-response.ts";
import { requestLanguage } from "../../../http/language.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { translateMessage } from "../../../translations/error-texts.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { RewindOutcome, RewindRequest, RewindResult, RewoundNode, SkipReason } from "./types.ts";

const MESSAGES: Record<SkipReason, Message> = {
  changed_by_others: say`Someone else has changed this since then, so it was not changed. Check its versions.`,
  deleted_by_others: say`Someone else has deleted this since then. It stays deleted.`,
  content_gone: say`The earlier version is no longer available. Restore it from a backup.`,
  not_empty: say`The device created this folder, but it is not empty. Delete it yourself if you don't need it.`,
};

/** The result of a rewind as the API returns it. */
export function presentRewind(
  { devicePublicId, sinceMs, isDryRun }: RewindRequest,
  result: RewindResult,
  request: Request,
) {
  const { outcomes, hasMore } = result;
  const language = requestLanguage(request);
  const undone = outcomes.flatMap((one) => (one.outcome === "undone" ? [presentUndone(one, isDryRun)] : []));
  const skipped = outcomes.flatMap((one) => (one.outcome === "skipped" ? [presentSkipped(one, language)] : []));
  const failed = outcomes.flatMap((one) =>
    one.outcome === "failed" ? [{ fileId: one.publicId, error: errorItem(one.error, request) }] : [],
  );
  return {
    deviceId: devicePublicId,
    since: toTimestamp(sinceMs),
    dryRun: isDryRun,
    undone,
    skipped,
    failed,
    counts: { undone: undone.length, skipped: skipped.length, failed: failed.length },
    hasMore,
  };
}

function presentUndone({ action, node, formerId }: Extract<RewindOutcome, { outcome: "undone" }>, isDryRun: boolean) {
  const { fileId, ...rest } = presentNode(node);
  return {
    // The new id of a dry run will never exist.
    fileId: isDryRun ? (formerId ?? fileId) : fileId,
    action,
    ...rest,
    ...(formerId !== undefined && { formerId }),
  };
}

function presentSkipped({ reason, node }: Extract<RewindOutcome, { outcome: "skipped" }>, language: string) {
  return { ...presentNode(node), reason, message: translateMessage(MESSAGES[reason], language) };
}

function presentNode({ publicId, isFolder, name, folder }: RewoundNode) {
  return { fileId: publicId, kind: isFolder ? ("folder" as const) : ("file" as const), name, folder };
}
