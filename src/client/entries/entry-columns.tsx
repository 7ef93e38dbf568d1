import { Link2 } from "../ui/icons.ts";
import type { Entry } from "../api/types.ts";
import { Badge } from "../ui/badge.tsx";
import { formatBytes, formatDate, formatDateTime } from "../base/format.ts";
import type { GridColumn } from "./collection/grid-types.ts";
import { text } from "./text.ts";

/** Tags, and whether there is a public link. */
export function marksColumn<T extends Entry>(): GridColumn<T> {
  return { id: "marks", header: text.tags, track: "minmax(5rem, 12rem)", render: (entry) => <Marks entry={entry} /> };
}

/** When it was last modified. */
export function modifiedColumn<T extends Entry>(): GridColumn<T> {
  return {
    id: "modified",
    header: text.modified,
    track: "8.5rem",
    sort: "modifiedAt",
    render: ({ modifiedAt }) => (
      <time dateTime={modifiedAt} title={formatDateTime(modifiedAt)}>
        {formatDate(modifiedAt)}
      </time>
    ),
  };
}

/** The size of a file, or the number of items in a folder. */
export function sizeColumn<T extends Entry>(): GridColumn<T> {
  return { id: "size", header: text.size, track: "6.5rem", sort: "size", render: sizeOf };
}

/** The size of a file, or the number of items in a folder, as text. */
export function sizeOf(entry: Entry): string {
  return entry.type === "folder" ? text.items(entry.itemCount) : formatBytes(entry.size);
}

/** Size and date in one line. */
export function subtitleOf(entry: Entry): string {
  return `${sizeOf(entry)} · ${formatDate(entry.modifiedAt)}`;
}

function Marks({ entry }: { readonly entry: Entry }) {
  if (entry.type === "folder") return null;
  const [first, ...more] = entry.tags;
  return (
    <span className="flex items-center gap-1.5" title={entry.tags.join(", ")}>
      {entry.isPublic && (
        <span role="img" aria-label={text.isShared} title={text.isShared}>
          <Link2 aria-hidden className="size-4" />
        </span>
      )}
      {first !== undefined && <Badge>{first}</Badge>}
      {more.length > 0 && <span className="text-xs">{text.moreTags(more.length)}</span>}
    </span>
  );
}
