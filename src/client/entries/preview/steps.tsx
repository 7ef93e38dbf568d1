import { ChevronLeft } from "lucide-react";
import { cx } from "../../ui/cx.ts";
import { ChevronRight } from "../../ui/icons.ts";
import { text } from "./text.ts";

/** The buttons to the previous and the next file. */
export function Steps({
  isFirst,
  isLast,
  onStep,
}: {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onStep: (by: 1 | -1) => void;
}) {
  return (
    <>
      <Step label={text.previous} side="start" isFaint={isFirst} onClick={() => onStep(-1)} />
      <Step label={text.next} side="end" isFaint={isLast} onClick={() => onStep(1)} />
    </>
  );
}

/** At the end it stays, but does nothing, because it may have the focus. */
function Step({
  label,
  side,
  isFaint,
  onClick,
}: {
  label: string;
  side: "start" | "end";
  isFaint: boolean;
  onClick: () => void;
}) {
  const Icon = side === "start" ? ChevronLeft : ChevronRight;
  return (
    <button
      type="button"
      aria-label={label}
      aria-disabled={isFaint || undefined}
      onClick={onClick}
      className={cx(
        "absolute bottom-3 z-10 inline-flex size-11 sm:top-1/2 sm:bottom-auto sm:-translate-y-1/2 items-center justify-center rounded-full",
        "border border-line-strong bg-raised text-ink shadow-lg hover:bg-sunken",
        side === "start" ? "start-2" : "end-2",
        isFaint && "opacity-40",
      )}
    >
      <Icon aria-hidden className="rtl:rotate-180" />
    </button>
  );
}
