import { type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

/** A choice among a few options that are all visible. */
export function RadioGroup<T extends string>({
  label,
  isLabelHidden = false,
  value,
  onChange,
  options,
  className,
}: {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly options: readonly {
    readonly value: T;
    readonly label: string;
    readonly hint?: ReactNode;
  }[];
  readonly className?: string;
}) {
  const name = useId();
  return (
    <fieldset className={cx("flex flex-col gap-1", className)}>
      <legend className={isLabelHidden ? "sr-only" : "mb-1 text-sm font-medium"}>{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="flex min-h-6 items-start gap-2.5 py-1">
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="mt-0.5 size-5 shrink-0 accent-accent"
          />
          <span className="text-sm">
            {option.label}
            {option.hint !== undefined && <span className="block text-muted">{option.hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
