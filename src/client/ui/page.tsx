import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { cx } from "./cx.ts";
import { uiText } from "./text.ts";

let isFirstPage = true;

/**
 * The frame of a page's content, with the title as h1 and as document title. After a navigation the heading takes the
 * focus, so that keyboard and screen reader users continue at the top of the new page.
 * @param fill the page uses the full height and scrolls inside (long virtual lists)
 * @param keepFocus the page gives the focus to one of its own elements
 */
export function Page({
  title,
  heading,
  actions,
  breadcrumbs,
  fill = false,
  wide = false,
  keepFocus = false,
  children,
}: {
  readonly title: string;
  /** Shown in place of the title inside the h1. */
  readonly heading?: ReactNode;
  /** The pages above this one; the title continues their path. */
  readonly breadcrumbs?: ReactNode;
  readonly actions?: ReactNode;
  readonly fill?: boolean;
  /** Without the maximum width that keeps lines of text readable. */
  readonly wide?: boolean;
  readonly keepFocus?: boolean;
  readonly children: ReactNode;
}) {
  const headingRef = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    document.title = `${title} · ${uiText.product}`;
  }, [title]);
  useEffect(() => {
    // On the first page the focus is at the start of the document anyway.
    if (!isFirstPage && !keepFocus && !isInUse(document.activeElement))
      headingRef.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [pathname, keepFocus]);
  return (
    <div
      className={cx(
        "flex flex-col px-4 pt-4 sm:px-6",
        fill ? "h-full min-h-0" : "min-h-full pb-10",
        !fill && !wide && "w-full max-w-5xl",
      )}
    >
      <div className="mb-3 flex min-h-9 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="flex max-w-full min-w-0 flex-wrap items-center sm:flex-nowrap">
          {breadcrumbs}
          <h1 ref={headingRef} tabIndex={-1} className="min-w-0 text-xl font-semibold break-words sm:text-2xl">
            {heading ?? title}
          </h1>
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {fill ? <div className="flex min-h-0 flex-1 flex-col">{children}</div> : children}
    </div>
  );
}

/** Whether a dialog has the focus, or a field, in which the person may have begun to type while the page loaded. */
function isInUse(focused: Element | null): boolean {
  return focused instanceof HTMLInputElement || focused?.closest('[role="dialog"], [role="alertdialog"]') != null;
}
