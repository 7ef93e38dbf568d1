import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { cx } from "./cx.ts";
import { Tooltip } from "./tooltip.tsx";

/** A link with an icon only, which looks like an {@link IconButton}. Its accessible name is `name`, or else `label`. */
export function IconLink({
  label,
  name = label,
  icon: Icon,
  className,
  ...rest
}: {
  /** The tooltip. */
  readonly label: string;
  readonly name?: string | undefined;
  readonly icon: LucideIcon;
  readonly href: string;
} & Omit<ComponentProps<"a">, "children">) {
  return (
    <Tooltip text={label}>
      <a
        {...rest}
        aria-label={name}
        className={cx(
          "control inline-flex aspect-square items-center justify-center rounded-lg text-ink hover:bg-sunken",
          className,
        )}
      >
        <Icon aria-hidden size={20} />
      </a>
    </Tooltip>
  );
}
