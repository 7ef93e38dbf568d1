import { type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

/** A section of a page with its own title. */
export function Card({
  title,
  description,
  actions,
  className,
  children,
}: {
  readonly title?: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children?: ReactNode;
}) {
  const id = useId();
  return (
    <section
      {...(title !== undefined && { "aria-labelledby": id })}
      className={cx("rounded-2xl border border-line bg-raised p-4 sm:p-5", className)}
    >
      {(title !== undefined || actions !== undefined) && (
        <div className="mb-3 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
          <div className="min-w-0 flex-1 basis-64">
            {title !== undefined && (
              <h2 id={id} className="text-base font-semibold wrap-anywhere">
                {title}
              </h2>
            )}
            {description !== undefined && <p className="text-sm text-muted">{description}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}
