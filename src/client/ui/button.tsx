import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { cx } from "./cx.ts";
import { Spinner } from "./spinner.tsx";

/** The weight of a button: one primary per page, danger for destructive actions. */
type ButtonVariant = "primary" | "secondary" | "quiet" | "danger";

/** The size of a button. */
type ButtonSize = "small" | "medium" | "large";

/** Size and weight, shared by buttons and links that look like buttons. */
export interface ButtonStyle {
  readonly variant?: ButtonVariant;
  readonly size?: ButtonSize;
  readonly icon?: LucideIcon;
}

const VARIANTS: Readonly<Record<ButtonVariant, string>> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover border-transparent",
  secondary: "bg-raised text-ink border-line-strong hover:bg-sunken",
  quiet: "bg-transparent text-ink border-transparent hover:bg-sunken",
  danger: "bg-danger text-on-danger hover:bg-danger-hover border-transparent",
};

const SIZES: Readonly<Record<ButtonSize, string>> = {
  small: "px-2.5 text-sm gap-1.5",
  medium: "px-3.5 text-sm gap-2",
  large: "px-5 text-base gap-2 min-h-11",
};

/** The class names of a button. */
export function buttonClassName({ variant = "secondary", size = "medium" }: ButtonStyle): string {
  return cx(
    "control inline-flex items-center justify-center rounded-lg border font-medium whitespace-nowrap select-none",
    "transition-colors disabled:opacity-55",
    VARIANTS[variant],
    SIZES[size],
  );
}

/** A button with text. While `busy` it shows a spinner and ignores presses, but keeps the focus. */
export function Button({
  variant,
  size,
  icon: Icon,
  busy = false,
  className,
  children,
  onClick,
  type = "button",
  ...rest
}: ButtonStyle & { readonly busy?: boolean } & ComponentProps<"button">) {
  const style: ButtonStyle = { ...(variant !== undefined && { variant }), ...(size !== undefined && { size }) };
  return (
    <button
      {...rest}
      // oxlint-disable-next-line react/button-has-type -- "button" unless the caller asks for another
      type={busy ? "button" : type}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? undefined : onClick}
      className={cx(buttonClassName(style), className)}
    >
      {busy ? (
        <Spinner label={null} size={16} />
      ) : (
        Icon !== undefined && <Icon aria-hidden size={18} className="shrink-0" />
      )}
      {children}
    </button>
  );
}
