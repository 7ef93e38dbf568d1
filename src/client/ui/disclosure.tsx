import type { ReactNode } from "react";
import { ChevronDown } from "lucide-react";
import { cx } from "./cx.ts";

/**
 * A part of a page that a press on its title shows and hides.
 * @param label the name for screen readers, if the title alone does not say enough
 */
export function Disclosure({
  title,
  label,
  className,
  children,
}: {
  readonly title: string;
  readonly label?: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <details className={cx("group/disclosure", className)}>
      <summary
        {...(label !== undefined && { "aria-label": label })}
        className="reach inline-flex min-h-6 cursor-pointer items-center gap-1 select-none"
      >
        <ChevronDown
          aria-hidden
          size={16}
          className="shrink-0 -rotate-90 group-open/disclosure:rotate-0 rtl:rotate-90 rtl:group-open/disclosure:rotate-0"
        />
        {title}
      </summary>
      {children}
    </details>
  );
}
