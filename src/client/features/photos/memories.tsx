import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { apiAddress } from "../../api/http.ts";
import { areMemoriesShown, localDate, MEMORIES_HIDDEN_ON } from "../../base/memories.ts";
import { writeStored } from "../../base/stored.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { X } from "../../ui/icons.ts";
import { memoriesQuery, type Memory } from "./api.ts";
import { text } from "./text.ts";

/** The height of the row of cards with its margin. The layout of the grid needs it. */
export const MEMORIES_HEIGHT = 188;

/** The photos of today's date in earlier years. None if they were hidden for today. */
export function useMemories(isEnabled: boolean) {
  const [today] = useState(localDate);
  const [isHidden, setHidden] = useState(() => !areMemoriesShown(today));
  const isShown = isEnabled && !isHidden;
  const { data, isLoading } = useQuery({ ...memoriesQuery(today), enabled: isShown });
  const dismiss = () => {
    writeStored(MEMORIES_HIDDEN_ON, today);
    setHidden(true);
  };
  return { memories: isShown ? (data ?? NONE) : NONE, isLoading, today, dismiss };
}

/** The result of {@link useMemories}. */
export type Memories = ReturnType<typeof useMemories>;

const NONE: readonly Memory[] = [];

/** One card for each earlier year that has photos of today's date. */
export function MemoriesRow({
  row: { memories, today, dismiss },
  onOpen,
}: {
  readonly row: Memories;
  readonly onOpen: (memory: Memory) => void;
}) {
  return (
    <section aria-label={text.memories} className="absolute inset-x-0 top-0 flex items-start gap-1">
      <ul className="flex min-w-0 flex-1 gap-2 overflow-x-auto p-1 pb-3">
        {memories.map((memory) => (
          <li key={memory.date} className="shrink-0">
            <Card
              memory={memory}
              label={text.yearsAgo({ n: yearsBetween(memory.date, today) })}
              onOpen={() => onOpen(memory)}
            />
          </li>
        ))}
      </ul>
      <IconButton label={text.hideMemories} icon={X} onClick={dismiss} />
    </section>
  );
}

function Card({
  memory: { photos, count },
  label,
  onOpen,
}: {
  readonly memory: Memory;
  readonly label: string;
  readonly onOpen: () => void;
}) {
  const cover = photos.find(({ hasThumbnail }) => hasThumbnail);
  return (
    <button
      type="button"
      onClick={onOpen}
      className="relative block h-40 w-32 overflow-hidden rounded-xl bg-sunken text-start focus-visible:outline-3"
    >
      {cover !== undefined && (
        <img
          src={apiAddress(`/api/files/${cover.id}/download`, { thumbnail: "medium" })}
          alt=""
          draggable={false}
          className="size-full object-cover"
        />
      )}
      <span className="absolute inset-x-0 bottom-0 flex flex-col bg-black/70 px-3 py-2 text-white">
        <span className="text-sm font-semibold">{label}</span>
        <span className="text-xs">{text.count({ n: count })}</span>
      </span>
    </button>
  );
}

function yearsBetween(date: string, today: string): number {
  return Number(today.slice(0, 4)) - Number(date.slice(0, 4));
}
