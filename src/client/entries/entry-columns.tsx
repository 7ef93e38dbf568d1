import type { Entry } from "../api/types.ts";
import { Badge } from "../ui/badge.tsx";
import { formatBytes, formatDate, formatDateTime } from "../base/format.ts";
import { describeKind } from "../base/media-types.ts";
import type { GridColumn } from "./collection/grid-types.ts";
import { text } from "./text.ts";

/** The columns that lists of files share. Each is chosen by its name. */
const COLUMNS = {
  location: () => ({
    id: "location",
    header: () => text.location,
    width: 14,
    render: (entry: Entry) => (
      <span title={entry.folder}>
        <bdi>{locationOf(entry.folder)}</bdi>
      </span>
    ),
  }),
  tags: () => ({
    id: "tags",
    header: () => text.tags,
    width: 9,
    has: (entry: Entry) => entry.type === "file" && entry.tags.length > 0,
    render: (entry: Entry) => <Tags entry={entry} />,
  }),
  type: () => ({ id: "type", header: () => text.type, width: 11, isExtra: true, render: describeKind }),
  modified: () => ({
    id: "modified",
    header: () => text.modified,
    width: 8.5,
    sort: "fileModifiedAt",
    render: (entry: Entry) => <Day moment={dateOf(entry)} />,
  }),
  uploaded: () => ({
    id: "uploaded",
    header: () => text.uploaded,
    width: 8.5,
    sort: "createdAt",
    isExtra: true,
    render: (entry: Entry) => <Day moment={entry.createdAt} />,
  }),
  size: () => ({
    id: "size",
    header: () => text.size,
    width: 7.5,
    sort: "size",
    render: (entry: Entry) => <Size entry={entry} />,
  }),
} satisfies Readonly<Record<string, () => GridColumn<Entry>>>;

/** Columns of a list, in the order of their names. */
export function columnsOf(names: readonly (keyof typeof COLUMNS)[]): GridColumn<Entry>[] {
  return names.map((name) => COLUMNS[name]());
}

/** A day, with the exact time as its tooltip. */
export function Day({ moment }: { readonly moment: string }) {
  return (
    <time dateTime={moment} title={formatDateTime(moment)}>
      {formatDate(moment)}
    </time>
  );
}

/** The file's own date; for others, when the entry was last modified. */
export function dateOf(entry: Entry): string {
  return (entry.type === "file" ? entry.fileModifiedAt : null) ?? entry.modifiedAt;
}

/** The size of a file, or of everything in a folder. Until that is known, the number of the folder's items. */
export function sizeOf(entry: Entry): string {
  if (entry.type === "file") return formatBytes(entry.size);
  return typeof entry.size === "number" ? formatBytes(entry.size) : text.items({ n: entry.itemCount });
}

/** Size and date in one line. */
export function subtitleOf(entry: Entry): string {
  return `${sizeOf(entry)} · ${formatDate(dateOf(entry))}`;
}

function Size({ entry }: { readonly entry: Entry }) {
  return <span title={entry.type === "folder" ? text.items({ n: entry.itemCount }) : undefined}>{sizeOf(entry)}</span>;
}

/** A folder as people read it. */
export function locationOf(folder: string): string {
  return folder === "/" ? text.home : folder;
}

function Tags({ entry }: { readonly entry: Entry }) {
  if (entry.type === "folder") return null;
  const [first, ...more] = entry.tags;
  return (
    <span className="flex items-center gap-1.5" title={entry.tags.join(", ")}>
      {first !== undefined && <Badge>{first}</Badge>}
      {more.length > 0 && <span className="text-xs">{text.moreTags({ n: more.length })}</span>}
    </span>
  );
}
