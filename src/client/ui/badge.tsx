import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** A short label. */
export function Badge({
  tone = "neutral",
  icon: Icon,
  children,
}: {
  readonly tone?: "neutral" | "accent" | "success" | "warning" | "danger";
  readonly icon?: LucideIcon;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={cx(
        "inline-flex max-w-full items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium",
        tone === "neutral" && "bg-sunken text-muted",
        tone === "accent" && "bg-accent-soft text-accent",
        tone === "success" && "bg-success-soft text-success",
        tone === "warning" && "bg-warning-soft text-warning",
        tone === "danger" && "bg-danger-soft text-danger",
      )}
    >
      {Icon !== undefined && <Icon aria-hidden size={12} className="shrink-0" />}
      <span className="truncate">{children}</span>
    </span>
  );
}
