import { cloneElement, type ReactElement, useEffect, useState } from "react";

/** The side of the control that a tooltip is on. */
type Side = "top" | "bottom" | "end";

const DELAY_MS = 500;
const GAP = 8;

/**
 * Describes a control briefly, after a moment of hovering or on keyboard focus. It is not the accessible name, so the
 * control needs its own. `children` is one element that accepts `data-` attributes.
 */
export function Tooltip({
  text,
  side = "bottom",
  children,
}: {
  readonly text: string;
  readonly side?: Side;
  readonly children: ReactElement<Record<string, unknown>>;
}) {
  return cloneElement(children, { "data-tooltip": text, "data-tooltip-side": side });
}

/** Renders the tooltip; once in the page. One for all controls, because a page may have a thousand of them. */
export function TooltipHost() {
  const [target, setTarget] = useState<HTMLElement>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = () => {
      clearTimeout(timer);
      setTarget(undefined);
    };
    const onPointerOver = (event: PointerEvent) => {
      if (event.pointerType === "touch") return;
      const found = tooltipOf(event.target);
      clearTimeout(timer);
      if (found === undefined) hide();
      else timer = setTimeout(() => setTarget(found), DELAY_MS);
    };
    const onFocusIn = (event: FocusEvent) => {
      const found = tooltipOf(event.target);
      if (found !== undefined && found.matches(":focus-visible")) setTarget(found);
      else hide();
    };
    document.addEventListener("pointerover", onPointerOver);
    document.addEventListener("pointerdown", hide);
    document.addEventListener("focusin", onFocusIn);
    document.addEventListener("focusout", hide);
    document.addEventListener("keydown", hide);
    document.addEventListener("scroll", hide, true);
    return () => {
      hide();
      document.removeEventListener("pointerover", onPointerOver);
      document.removeEventListener("pointerdown", hide);
      document.removeEventListener("focusin", onFocusIn);
      document.removeEventListener("focusout", hide);
      document.removeEventListener("keydown", hide);
      document.removeEventListener("scroll", hide, true);
    };
  }, []);
  const text = target?.dataset["tooltip"];
  if (target === undefined || text === undefined || !target.isConnected) return null;
  return (
    <div
      aria-hidden
      ref={(bubble) => {
        if (bubble !== null) moveTo(bubble, target);
      }}
      className="pointer-events-none fixed start-0 top-0 z-80 max-w-64 rounded-md bg-ink px-2 py-1 text-xs text-surface shadow-lg"
    >
      {text}
    </div>
  );
}

function tooltipOf(target: EventTarget | null): HTMLElement | undefined {
  const found = target instanceof Element ? target.closest<HTMLElement>("[data-tooltip]") : null;
  return found ?? undefined;
}

/** Positions the tooltip next to its control, inside the window. */
function moveTo(bubble: HTMLElement, target: HTMLElement): void {
  const control = target.getBoundingClientRect();
  const { width, height } = bubble.getBoundingClientRect();
  const side = target.dataset["tooltipSide"];
  const isRtl = document.documentElement.dir === "rtl";
  let left = control.left + (control.width - width) / 2;
  let top = control.bottom + GAP;
  if (side === "end") {
    left = isRtl ? control.left - width - GAP : control.right + GAP;
    top = control.top + (control.height - height) / 2;
  } else if (side === "top" || top + height > window.innerHeight) {
    top = control.top - height - GAP;
  }
  bubble.style.left = `${Math.max(4, Math.min(left, window.innerWidth - width - 4))}px`;
  bubble.style.right = "auto";
  bubble.style.top = `${Math.max(4, top)}px`;
}
