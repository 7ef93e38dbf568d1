import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import type { Upload } from "../engine/types.ts";
import { text } from "../text.ts";
import { trayOrder } from "./order.ts";
import { UploadRow } from "./upload-row.tsx";

const ROW_HEIGHT_PX = 64;
/** The rows contain a visible focus. */
const KEYBOARD_USE = ":has(:focus-visible), :focus-visible";

/** The rows of the tray. They don't change places while a person points at them, or uses them by keyboard. */
export function UploadRows({
  uploads,
  onDecide,
}: {
  readonly uploads: readonly Upload[];
  readonly onDecide: (id: string) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [frozen, setFrozen] = useState<readonly string[]>();
  const ordered = trayOrder(uploads, frozen);
  const virtualizer = useVirtualizer({
    count: ordered.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    getItemKey: (index) => ordered[index]?.id ?? index,
    overscan: 6,
  });
  const freeze = () => setFrozen((former) => former ?? ordered.map(({ id }) => id));
  /** Ends the freeze, unless the rows are still used in the other way. */
  const releaseUnless = (selector: string) => {
    if (scroller.current?.matches(selector) !== true) setFrozen(undefined);
  };
  // When the button under the pointer is removed, browsers don't report that the pointer leaves.
  useEffect(() => {
    if (frozen === undefined) return undefined;
    const onPointerOver = ({ target }: PointerEvent) => {
      const isInside = target instanceof Node && scroller.current?.contains(target) === true;
      if (!isInside && scroller.current?.matches(KEYBOARD_USE) !== true) setFrozen(undefined);
    };
    document.addEventListener("pointerover", onPointerOver);
    return () => document.removeEventListener("pointerover", onPointerOver);
  }, [frozen]);
  return (
    <div
      ref={scroller}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keyboard: rows out of sight have no stop
      tabIndex={0}
      role="group"
      aria-label={text.title}
      onPointerEnter={freeze}
      onPointerLeave={() => releaseUnless(KEYBOARD_USE)}
      // A tap also focuses a button; only a visible focus means that the keyboard is used.
      onFocus={({ target }) => target.matches(":focus-visible") && freeze()}
      onBlur={() => releaseUnless(":hover")}
      className="min-h-0 flex-1 overflow-y-auto"
    >
      <ul className="relative [&>li:last-child>div]:border-b-0" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ key, index, start }) => {
          const upload = ordered[index];
          if (upload === undefined) return null;
          return (
            <li
              key={key}
              data-index={index}
              ref={virtualizer.measureElement}
              aria-setsize={ordered.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <UploadRow upload={upload} onDecide={() => onDecide(upload.id)} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
