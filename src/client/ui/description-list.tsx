import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/**
 * Names and their values. Undefined values are left out.
 * @param isRuled separates the rows by lines, with the values at the end
 */
export function DescriptionList({
  items,
  isRuled = false,
}: {
  readonly items: readonly (readonly [name: string, value: ReactNode])[];
  readonly isRuled?: boolean;
}) {
  return (
    <dl className={cx("text-sm", !isRuled && "grid grid-cols-[fit-content(55%)_1fr] gap-x-4 gap-y-1.5")}>
      {items.map(
        ([name, value]) =>
          value !== undefined && (
            <div
              key={name}
              className={
                isRuled
                  ? "flex flex-wrap justify-between gap-x-6 border-b border-line py-1.5 last:border-b-0"
                  : "contents"
              }
            >
              <dt className="text-muted">{name}</dt>
              <dd className={cx("min-w-0 break-words", isRuled && "ms-auto text-end")}>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
