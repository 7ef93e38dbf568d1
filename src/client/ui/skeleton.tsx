import { cx } from "./cx.ts";

/** Stands where something will be. Tell screen readers once, by a Spinner or `aria-busy`, that it is on its way. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <span aria-hidden className={cx("skeleton block h-4 w-full", className)} />;
}
