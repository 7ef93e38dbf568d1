import { type ComponentProps, type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

/** A switch that takes effect at once, without a save button. */
export function Switch({
  label,
  hint,
  checked,
  onChange,
  className,
  ...rest
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
} & Omit<ComponentProps<"input">, "checked" | "onChange" | "type">) {
  const id = useId();
  return (
    <label className={cx("flex min-h-11 items-center justify-between gap-4 py-1", className)}>
      <span className="text-sm">
        <span className="font-medium">{label}</span>
        {hint !== undefined && (
          <span id={id} className="block text-muted">
            {hint}
          </span>
        )}
      </span>
      <span className="relative inline-flex shrink-0">
        <input
          {...rest}
          type="checkbox"
          role="switch"
          aria-label={label}
          {...(hint !== undefined && { "aria-describedby": id })}
          checked={checked}
          onChange={(event) => onChange(event.target.checked)}
          className="peer h-6 w-11 appearance-none rounded-full border border-line-strong bg-sunken transition-colors checked:border-accent checked:bg-accent disabled:opacity-55"
        />
        <span
          aria-hidden
          className="pointer-events-none absolute start-1 top-1 size-4 rounded-full bg-line-strong transition-transform peer-checked:translate-x-5 peer-checked:bg-on-accent rtl:peer-checked:-translate-x-5"
        />
      </span>
    </label>
  );
}
