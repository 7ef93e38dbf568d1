import { useEffect, useRef } from "react";
import type { FileRecord } from "../../api/types.ts";

/** The files that the preview goes through. */
export interface StepProps {
  /** Known files in the order of the list, without gaps. The list may have more before and after them. */
  readonly items: readonly FileRecord[];
  /** Which of them is shown. */
  readonly index: number;
  /** The position of the shown file among all files of the list, from 0; undefined until it is known. */
  readonly position?: number | undefined;
  /** The number of files in the list; undefined until it is known. */
  readonly total?: number | undefined;
  readonly onIndexChange: (index: number) => void;
  /** Shows the file at a position of the list, loading it if necessary. Without it, `items` are the whole list. */
  readonly onGoTo?: (position: number) => void;
}

/** The position that a key leads to, from the position of the shown file and the number of files. */
type Move = (position: number, total: number) => number;

/**
 * Where the shown file is in the list, and functions to go to others. Before the list is loaded, `moves` wait for it:
 * a key that is pressed right after opening works too.
 */
export function useSteps(props: StepProps) {
  const { items, index, onIndexChange, onGoTo } = props;
  const isWhole = onGoTo === undefined;
  const { position = isWhole ? index : undefined, total = isWhole ? items.length : undefined } = props;
  /** What the keys pressed before the list is known lead to. */
  const waiting = useRef<Move>(undefined);

  /** Shows a known file, or loads one that is further away. @returns false if there is none */
  const go = (by: number): boolean => {
    const to = index + by;
    if (items[to] !== undefined) onIndexChange(to);
    else if (position !== undefined && total !== undefined && position + by >= 0 && position + by < total)
      onGoTo?.(position + by);
    else return false;
    return true;
  };
  const move = (to: Move) => {
    if (position !== undefined && total !== undefined) {
      const target = Math.min(Math.max(to(position, total), 0), total - 1);
      if (target !== position) go(target - position);
      return;
    }
    const former = waiting.current;
    waiting.current = former === undefined ? to : (at, count) => to(former(at, count), count);
  };

  const shownId = items[index]?.id;
  useEffect(() => {
    waiting.current = undefined;
  }, [shownId]);
  useEffect(() => {
    const awaited = waiting.current;
    if (position === undefined || total === undefined || awaited === undefined) return;
    waiting.current = undefined;
    move(awaited);
  });
  const moves = {
    step: (by: 1 | -1) => {
      if (!go(by)) move((at) => at + by);
    },
    first: () => move(() => 0),
    last: () => move((_, count) => count - 1),
  };
  return { position, total, go, moves };
}
