import { type ComponentProps, type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

/** A checkbox with its label. */
export function Checkbox({
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
    <label className={cx("inline-flex min-h-6 items-start gap-2.5 py-0.5", className)}>
      <input
        {...rest}
        type="checkbox"
        checked={checked}
        {...(hint !== undefined && { "aria-describedby": id })}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 size-5 shrink-0 accent-accent"
      />
      <span className="text-sm">
        {label}
        {hint !== undefined && (
          <span id={id} className="block text-muted">
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}
