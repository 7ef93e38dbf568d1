import { ChevronLeft, Pause, Play } from "lucide-react";
import { cx } from "../../ui/cx.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { ChevronRight, X } from "../../ui/icons.ts";
import { SECONDS, useSlideInterval } from "./interval.ts";
import { text } from "./text.ts";

/** The buttons of the slideshow. They stay in the page while invisible, so that they can be reached by keyboard. */
export function Controls({
  areVisible,
  isPlaying,
  onPlaying,
  onMove,
  onClose,
}: {
  readonly areVisible: boolean;
  readonly isPlaying: boolean;
  readonly onPlaying: (isPlaying: boolean) => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onClose: () => void;
}) {
  const [seconds, setSeconds] = useSlideInterval();
  return (
    <div
      className={cx(
        "absolute inset-x-0 bottom-4 flex justify-center motion-safe:transition-opacity",
        !areVisible && "opacity-0 focus-within:opacity-100",
      )}
    >
      <div className="flex items-center gap-1 rounded-xl border border-line-strong bg-raised px-1 text-ink shadow-lg">
        <IconButton
          hasTooltip={false}
          label={text.previous}
          icon={ChevronLeft}
          className="rtl:rotate-180"
          onClick={() => onMove(-1)}
        />
        <IconButton
          hasTooltip={false}
          label={isPlaying ? text.pause : text.play}
          icon={isPlaying ? Pause : Play}
          onClick={() => onPlaying(!isPlaying)}
        />
        <IconButton
          hasTooltip={false}
          label={text.next}
          icon={ChevronRight}
          className="rtl:rotate-180"
          onClick={() => onMove(1)}
        />
        <select
          aria-label={text.interval}
          value={seconds}
          onChange={(event) => setSeconds(Number(event.target.value))}
          className="control rounded-lg bg-raised px-2 text-sm"
        >
          {SECONDS.map((value) => (
            <option key={value} value={value}>
              {text.seconds({ n: value })}
            </option>
          ))}
        </select>
        <IconButton hasTooltip={false} label={text.close} icon={X} onClick={onClose} />
      </div>
    </div>
  );
}
