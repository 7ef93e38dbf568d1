import { type ComponentProps, type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

/** A checkbox with its label. `indeterminate`: only some of the items it stands for are checked. */
export function Checkbox({
  label,
  isLabelHidden = false,
  hint,
  checked,
  indeterminate = false,
  onChange,
  className,
  ...rest
}: {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly hint?: ReactNode;
  readonly checked: boolean;
  readonly indeterminate?: boolean;
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
        ref={(input) => {
          if (input !== null) input.indeterminate = indeterminate;
        }}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 size-5 shrink-0 accent-accent"
      />
      <span className={isLabelHidden ? "sr-only" : "text-sm"}>
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
