// What others share, as entries of a list.
import { BookImage } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { request } from "../../../api/http.ts";
import { keys } from "../../../api/queries.ts";
import type { Entry } from "../../../api/types.ts";
import { formatDate, formatDateTime } from "../../../base/format.ts";
import type { GridColumn, GridSort, SortOption } from "../../../entries/collection/grid-types.ts";
import { PAGE_SIZE } from "../../../entries/collection/page-window.ts";
import type { PageSource } from "../../../entries/collection/read-pages.ts";
import { columnsOf, Day } from "../../../entries/entry-columns.tsx";
import { sortOptions } from "../../../entries/list-sort.ts";
import type { ReceivedShare } from "../../../entries/sharing/api.ts";
import { text } from "../../../entries/sharing/text.ts";
import { Badge } from "../../../ui/badge.tsx";
import { PersonAvatar } from "../../../ui/person-avatar.tsx";

/** A file, folder, or album that another account shares. */
export type ReceivedEntry = Entry & { readonly share: ReceivedShare };

/** The shares of others in an order of the list. The server returns all of them, at most 1,000. */
export function useReceivedSource({
  field: sort,
  order,
}: Pick<GridSort, "field" | "order">): PageSource<ReceivedEntry> {
  return useMemo(
    () => ({
      key: [...keys.received, "entries", { sort, order }],
      scope: "received",
      fetchPage: async (page, signal) => {
        const { shares } = await request<{ shares: readonly ReceivedShare[] }>("GET", "/api/shares/received", {
          query: { sort, order },
          ...(signal !== undefined && { signal }),
        });
        const entries = shares.flatMap((share) => toEntry(share) ?? []);
        return { entries: entries.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE), total: entries.length };
      },
    }),
    [sort, order],
  );
}

/** An album is listed like a folder, and opens on its own page. */
function toEntry(share: ReceivedShare): ReceivedEntry | undefined {
  const { file, folder, album } = share;
  const entry = file ?? folder;
  if (entry !== undefined) return { ...entry, share };
  if (album === undefined) return undefined;
  const { id, name, itemCount, createdAt, modifiedAt, description } = album;
  return { id, name, itemCount, createdAt, modifiedAt, description, type: "folder", folder: "/", path: "/", share };
}

/** The columns of the list. */
export const COLUMNS: readonly GridColumn<ReceivedEntry>[] = [
  {
    id: "owner",
    header: () => text.owner,
    width: 9.5,
    sort: "owner",
    render: ({ share }) => (
      <span className="flex min-w-0 items-center gap-2">
        <PersonAvatar id={share.owner.id} name={ownerName(share)} size={22} />
        <bdi title={share.owner.email} className="truncate">
          {ownerName(share)}
        </bdi>
      </span>
    ),
  },
  {
    id: "shared",
    header: () => text.shared,
    width: 8.5,
    sort: "createdAt",
    render: ({ share }) => <Day moment={share.createdAt} />,
  },
  {
    id: "rights",
    header: () => text.rights,
    width: 6.5,
    render: ({ share }) => (
      <Badge tone={share.permissions === "write" ? "accent" : "neutral"}>{rightsText(share)}</Badge>
    ),
  },
  {
    id: "note",
    header: () => text.label,
    width: 12,
    has: ({ share }) => share.label !== null,
    render: ({ share }) => <bdi title={share.label ?? ""}>{share.label}</bdi>,
  },
  {
    id: "expires",
    header: () => text.expiry,
    width: 8.5,
    has: ({ share }) => share.expiresAt !== null,
    render: ({ share: { expiresAt } }) =>
      expiresAt !== null && (
        <time dateTime={expiresAt} title={formatDateTime(expiresAt)}>
          {formatDate(expiresAt)}
        </time>
      ),
  },
  ...columnsOf(["type", "modified", "size"]).map((column) => ({ ...column, isExtra: column.id !== "size" })),
];

/** What the list can be sorted by. */
export const SORTS: readonly SortOption[] = [
  ...sortOptions(["shared", "natural"]),
  {
    field: "owner",
    label: () => text.owner,
  },
];

/** The line below a name on phones. */
export function subtitleOf({ share }: ReceivedEntry): ReactNode {
  const until = share.expiresAt === null ? [] : [text.expiresAt({ when: formatDate(share.expiresAt) })];
  return (
    <>
      <span className="me-1.5 inline-flex align-middle">
        <PersonAvatar id={share.owner.id} name={ownerName(share)} size={16} />
      </span>
      {[text.sharedBy({ name: ownerName(share) }), rightsText(share), ...until].join(" · ")}
    </>
  );
}

/** The icon of an album; other entries have thumbnails. */
export function albumIcon({ share }: ReceivedEntry, size: "small" | "medium") {
  if (share.album === undefined) return undefined;
  return (
    <span
      aria-hidden
      className={size === "small" ? "grid size-8 place-items-center" : "grid h-full place-items-center"}
    >
      <BookImage size={size === "small" ? 24 : 48} strokeWidth={1.75} className="text-accent" />
    </span>
  );
}

/** The owner as people call them. */
export function ownerName({ owner }: ReceivedShare): string {
  return owner.name || owner.email;
}

/** What the share allows, in words. */
export function rightsText({ permissions }: ReceivedShare): string {
  return permissions === "write" ? text.mayWriteBadge : text.mayReadBadge;
}
