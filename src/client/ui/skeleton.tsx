import { cx } from "./cx.ts";

/** A placeholder for content that is loading. Announce the loading once, with a Spinner or `aria-busy`. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <span aria-hidden className={cx("skeleton block h-4 w-full", className)} />;
}
