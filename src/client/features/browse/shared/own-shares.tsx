// The shares that the account has created, as entries of a list.
import { EyeOff, Inbox, KeyRound, Pencil, Pin, UserRound } from "lucide-react";
import { useMemo } from "react";
import { keys } from "../../../api/queries.ts";
import type { FolderRecord, ShareRecord } from "../../../api/types.ts";
import { formatDate, formatDateTime, formatNumber, formatRelative } from "../../../base/format.ts";
import type { GridColumn, GridSort, SortOption } from "../../../entries/collection/grid-types.ts";
import { PAGE_SIZE } from "../../../entries/collection/page-window.ts";
import { type PageSource, readAll } from "../../../entries/collection/read-pages.ts";
import { Day } from "../../../entries/entry-columns.tsx";
import { sortOptions } from "../../../entries/list-sort.ts";
import { fetchShares, recipientOf } from "../../../entries/sharing/api.ts";
import {
  closedBecause,
  describeCounts,
  describeKind,
  describeTransfers,
} from "../../../entries/sharing/share-state.tsx";
import { text } from "../../../entries/sharing/text.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Link2, UsersRound } from "../../../ui/icons.ts";

/** Which shares are listed: those that can be opened, or those that can't any more. */
export type Filter = "all" | "open" | "closed";

/** A share. Lists show files and folders, so it has their fields, with its own id and the name of what is shared. */
export type OwnShare = FolderRecord & { readonly share: ShareRecord };

/** The shares of the account in an order of the list. */
export function useOwnShares({ field: sort, order }: GridSort, filter: Filter): PageSource<OwnShare> {
  return useMemo(() => {
    const fetchPage = async (page: number, signal: AbortSignal | undefined) => {
      const { shares, pagination } = await fetchShares({ field: sort, order }, page, signal);
      return { entries: shares.map(toEntry), total: pagination.total };
    };
    /** The server can't filter, so all are read. */
    const fetchFiltered = async (page: number, signal: AbortSignal | undefined) => {
      const all = await readAll({ fetchPage }, undefined, { signal });
      const entries = all.filter(({ share }) => (closedBecause(share) !== undefined) === (filter === "closed"));
      return { entries: entries.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE), total: entries.length };
    };
    return {
      key: [...keys.shares, "by-me", { sort, order, filter }],
      scope: `by-me ${filter}`,
      fetchPage: filter === "all" ? fetchPage : fetchFiltered,
    };
  }, [sort, order, filter]);
}

function toEntry(share: ShareRecord): OwnShare {
  const { id, createdAt } = share;
  const name = sharedItem(share)?.name ?? "";
  const rest = { folder: "/", path: "/", itemCount: 0, description: "" };
  return { ...rest, id, name, type: "folder", createdAt, modifiedAt: createdAt, share };
}

/** The file, folder, or album that is shared. */
export function sharedItem({ file, folder, album }: ShareRecord) {
  return file ?? folder ?? album;
}

/** The columns of the list. */
export const COLUMNS: readonly GridColumn<OwnShare>[] = [
  {
    id: "kind",
    header: () => text.who,
    width: 9,
    render: ({ share }) => <Kind share={share} />,
  },
  {
    id: "note",
    header: () => text.label,
    width: 8,
    has: ({ share }) => share.label !== null,
    render: ({ share }) => <bdi title={share.label ?? ""}>{share.label}</bdi>,
  },
  {
    id: "expires",
    header: () => text.expiry,
    width: 7,
    sort: "expiresAt",
    has: ({ share }) => share.expiresAt !== null || closedBecause(share) !== undefined,
    render: ({ share }) => <Expiry share={share} />,
  },
  {
    id: "visits",
    header: () => text.visitsHeader,
    width: 4,
    has: ({ share }) => share.kind !== "account",
    render: ({ share }) => share.kind !== "account" && formatNumber(share.views),
  },
  {
    id: "transfers",
    header: () => text.transfersHeader,
    width: 7,
    has: ({ share }) => share.kind !== "account",
    render: ({ share }) => <span title={describeTransfers(share)}>{describeTransfers(share)}</span>,
  },
  {
    id: "opened",
    header: () => text.lastAccessHeader,
    width: 8.5,
    isExtra: true,
    render: ({ share: { lastAccessedAt } }) =>
      lastAccessedAt !== null && (
        <time dateTime={lastAccessedAt} title={formatDateTime(lastAccessedAt)}>
          {formatRelative(lastAccessedAt)}
        </time>
      ),
  },
  {
    id: "shared",
    header: () => text.shared,
    width: 8.5,
    sort: "createdAt",
    render: ({ share }) => <Day moment={share.createdAt} />,
  },
];

/** The line below a name on phones. */
export function subtitleOf({ share }: OwnShare): string {
  return [share.label ?? describeKind(share), expiryText(share), describeCounts(share)]
    .filter((part) => part !== "")
    .join(" · ");
}

function iconOf({ kind, group }: ShareRecord) {
  if (kind === "upload") return Inbox;
  if (kind !== "account") return Link2;
  return group === null ? UserRound : UsersRound;
}

/** The icon of a kind of share. */
export function kindIcon({ share }: OwnShare) {
  const Icon = iconOf(share);
  return (
    <span aria-hidden className="grid size-8 place-items-center text-muted">
      <Icon size={22} strokeWidth={1.75} />
    </span>
  );
}

function expiryText(share: ShareRecord): string {
  const closed = closedBecause(share);
  if (closed !== undefined) return text[closed];
  return share.expiresAt === null ? "" : text.expiresAt({ when: formatDate(share.expiresAt) });
}

function Expiry({ share }: { readonly share: ShareRecord }) {
  const closed = closedBecause(share);
  if (closed !== undefined) return <Badge tone="danger">{text[closed]}</Badge>;
  if (share.expiresAt === null) return null;
  return (
    <time dateTime={share.expiresAt} title={formatDateTime(share.expiresAt)}>
      {formatDate(share.expiresAt)}
    </time>
  );
}

/** The kind of a share, with icons for settings that limit it. */
function Kind({ share }: { readonly share: ShareRecord }) {
  const icons = [
    ...(share.hasPassword ? [[KeyRound, text.hasPassword] as const] : []),
    ...(share.hideLocation ? [[EyeOff, text.hidesLocation] as const] : []),
    ...(share.pinned ? [[Pin, text.isPinned] as const] : []),
    ...(share.permissions === "write" ? [[Pencil, text.mayWriteBadge] as const] : []),
  ];
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span className="truncate" title={describeKind(share)}>
        <bdi>{share.kind === "account" ? recipientOf(share).name : describeKind(share)}</bdi>
      </span>
      {icons.map(([Icon, label]) => (
        <span key={label} role="img" aria-label={label} title={label} className="shrink-0">
          <Icon aria-hidden size={16} />
        </span>
      ))}
    </span>
  );
}

/** What the list can be sorted by. */
export const SORTS: readonly SortOption[] = [
  ...sortOptions(["shared", "natural"]),
  {
    field: "expiresAt",
    label: () => text.expiry,
  },
];
