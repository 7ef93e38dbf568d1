import { LoaderCircle } from "lucide-react";
import { cx } from "./cx.ts";
import { uiText } from "./text.ts";

/**
 * A loading indicator.
 * @param label what is loading, for screen readers; null if there is text next to it
 */
export function Spinner({
  label = uiText.loading,
  size = 20,
  className,
}: {
  label?: string | null;
  size?: number;
  className?: string;
}) {
  return (
    <span {...(label !== null && { role: "status" })} className={cx("inline-flex", className)}>
      <LoaderCircle aria-hidden size={size} className="spin" />
      {label !== null && <span className="sr-only">{label}</span>}
    </span>
  );
}
