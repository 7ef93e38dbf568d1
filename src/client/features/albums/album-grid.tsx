import { useMemo, useRef, useState } from "react";
import { withMember } from "../../base/sets.ts";
import type { Album } from "../../entries/albums/api.ts";
import { JustifiedGrid, type JustifiedGridHandle } from "../../entries/justified/justified-grid.tsx";
import type { ReorderOptions } from "../../entries/justified/use-reorder.ts";
import { useFilePreview } from "../../entries/use-preview.tsx";
import { AlbumSelection } from "./album-selection.tsx";
import { albumFiles, type useAlbumItems } from "./items.ts";
import { dropTarget } from "./order.ts";
import { text } from "./text.ts";
import type { useAlbumChanges } from "./use-album-changes.ts";

/** The files of an album, which can be opened, selected and dragged to another position, and the actions on them. */
export function AlbumGrid({
  album,
  content: { ids, items, load, onNeeded },
  aspects,
  canChange,
  changes,
}: {
  readonly album: Album;
  readonly content: ReturnType<typeof useAlbumItems>;
  readonly aspects: readonly number[];
  readonly canChange: boolean;
  readonly changes: ReturnType<typeof useAlbumChanges>;
}) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  // A file that was removed from the album is no longer selected.
  const selected = useMemo(() => marked.intersection(new Set(ids)), [marked, ids]);
  const grid = useRef<JustifiedGridHandle>(null);
  const source = useMemo(() => albumFiles(album.id), [album.id]);
  const { open, preview } = useFilePreview(source, {
    findKnown: (id) => items.get(id)?.file,
    onClosed: (id) => {
      const index = ids.indexOf(id);
      if (index >= 0) requestAnimationFrame(() => requestAnimationFrame(() => grid.current?.goTo(index)));
    },
  });
  const add = (added: Iterable<string>) => setMarked((before) => new Set([...before, ...added]));
  const clear = () => setMarked(new Set());
  const reorder = reorderOptions(ids, selected, changes);
  return (
    <>
      {selected.size > 0 && (
        <AlbumSelection
          ids={ids}
          selected={selected}
          items={items}
          load={load}
          canChange={canChange}
          changes={changes}
          onClear={clear}
        />
      )}
      <div className="min-h-0 flex-1">
        <JustifiedGrid
          label={text.gridLabel({ name: album.name })}
          aspects={aspects}
          itemAt={(index) => items.get(ids[index] ?? "")}
          selected={selected}
          onOpen={({ id }) => open(id)}
          onToggle={({ id }) => setMarked((before) => withMember(before, id, !before.has(id)))}
          onAddRange={(one, other) => add(ids.slice(Math.min(one, other), Math.max(one, other) + 1))}
          onClear={clear}
          onNeeded={onNeeded}
          reorder={canChange ? reorder : undefined}
          handle={grid}
        />
      </div>
      {preview}
    </>
  );
}

/** How files are dragged: with the whole selection, if they are part of it. */
function reorderOptions(
  ids: readonly string[],
  selected: ReadonlySet<string>,
  { move }: Pick<ReturnType<typeof useAlbumChanges>, "move">,
): ReorderOptions {
  const draggedBy = (index: number): ReadonlySet<string> => {
    const id = ids[index] ?? "";
    return selected.has(id) ? selected : new Set([id]);
  };
  return {
    countOf: (dragged) => draggedBy(dragged).size,
    moves: (index, dragged) => draggedBy(dragged).has(ids[index] ?? ""),
    onDrop: (index, at) => {
      const moved = draggedBy(index);
      const before = dropTarget(ids, moved, at);
      const inOrder = ids.filter((id) => moved.has(id));
      if (before !== undefined) void move(inOrder, before);
    },
  };
}
