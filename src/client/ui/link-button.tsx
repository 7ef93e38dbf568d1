import type { ComponentProps } from "react";
import { type ButtonStyle, buttonClassName } from "./button.tsx";
import { cx } from "./cx.ts";

/**
 * A link that looks like a button. For addresses inside the application use `buttonClassName` with the router's Link.
 */
export function LinkButton({
  variant,
  size,
  icon: Icon,
  className,
  children,
  href,
  ...rest
}: ButtonStyle & { readonly href: string } & ComponentProps<"a">) {
  const style: ButtonStyle = { ...(variant !== undefined && { variant }), ...(size !== undefined && { size }) };
  return (
    <a {...rest} href={href} className={cx(buttonClassName(style), "no-underline", className)}>
      {Icon !== undefined && <Icon aria-hidden size={18} className="shrink-0" />}
      {children}
    </a>
  );
}
