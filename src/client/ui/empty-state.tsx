import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** Shown in place of an empty list: what is missing, and what to do. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center justify-center gap-3 px-6 py-16 text-center">
      <span className="inline-flex size-16 items-center justify-center rounded-full bg-accent-soft text-accent">
        <Icon aria-hidden size={30} strokeWidth={1.5} />
      </span>
      <p className="text-lg font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md text-sm text-balance text-muted">{children}</div>}
      {action}
    </div>
  );
}
