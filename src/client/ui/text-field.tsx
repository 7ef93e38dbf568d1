import type { ComponentProps } from "react";
import { Field, type FieldFrame } from "./field.tsx";

/** A text field with its label. Other attributes are passed to the `input`. */
export function TextField({
  label,
  isLabelHidden,
  hint,
  error,
  className,
  value,
  onChange,
  ...rest
}: FieldFrame & {
  readonly value: string;
  readonly onChange: (value: string) => void;
} & Omit<ComponentProps<"input">, "value" | "onChange" | "className">) {
  return (
    <Field label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} className={className}>
      {(ids) => (
        <input
          type="text"
          {...rest}
          {...ids}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="field control"
        />
      )}
    </Field>
  );
}
