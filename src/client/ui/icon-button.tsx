import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { cx } from "./cx.ts";
import { Tooltip } from "./tooltip.tsx";

/** A button with an icon only. Its label is its accessible name and its tooltip. */
export function IconButton({
  label,
  icon: Icon,
  iconSize = 20,
  hasTooltip = true,
  className,
  type = "button",
  ...rest
}: {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly iconSize?: number;
  readonly hasTooltip?: boolean;
} & ComponentProps<"button">) {
  const button = (
    <button
      {...rest}
      // oxlint-disable-next-line react/button-has-type -- "button" unless the caller asks for another
      type={type}
      aria-label={label}
      className={cx(
        "control inline-flex aspect-square items-center justify-center rounded-lg text-ink hover:bg-sunken",
        "transition-colors disabled:opacity-55 aria-pressed:bg-accent-soft aria-pressed:text-accent",
        className,
      )}
    >
      <Icon aria-hidden size={iconSize} />
    </button>
  );
  return hasTooltip ? <Tooltip text={label}>{button}</Tooltip> : button;
}
