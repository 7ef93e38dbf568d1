import { cx } from "./cx.ts";

/** A progress bar from 0 to 1; undefined if the progress is unknown. */
export function Progress({
  value,
  label,
  tone = "accent",
  className,
}: {
  readonly value: number | undefined;
  readonly label: string;
  readonly tone?: "accent" | "danger" | "warning";
  readonly className?: string;
}) {
  const percent = value === undefined ? undefined : Math.round(Math.min(Math.max(value, 0), 1) * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent !== undefined && { "aria-valuenow": percent })}
      className={cx("h-1.5 w-full overflow-hidden rounded-full bg-sunken", className)}
    >
      <div
        className={cx(
          "h-full rounded-full transition-[width] duration-200",
          tone === "accent" && "bg-accent",
          tone === "danger" && "bg-danger",
          tone === "warning" && "bg-warning",
          percent === undefined && "skeleton w-full",
        )}
        style={percent === undefined ? undefined : { width: `${percent}%` }}
      />
    </div>
  );
}
