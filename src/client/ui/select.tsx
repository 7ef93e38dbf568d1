import type { ComponentProps } from "react";
import { Field, type FieldFrame } from "./field.tsx";

/** An option of a select. */
export interface Option<T extends string = string> {
  readonly value: T;
  readonly label: string;
  readonly disabled?: boolean;
}

/** A native select, which fits every device. */
export function Select<T extends string>({
  label,
  isLabelHidden,
  hint,
  error,
  className,
  value,
  onChange,
  options,
  ...rest
}: FieldFrame & {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly options: readonly Option<T>[];
} & Omit<ComponentProps<"select">, "value" | "onChange" | "className">) {
  return (
    <Field label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} className={className}>
      {(ids) => (
        <select
          {...rest}
          {...ids}
          value={value}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.target.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
          className="field control"
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
