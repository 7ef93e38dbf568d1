import type { ComponentProps } from "react";
import { Field, type FieldFrame } from "./field.tsx";

/** A text area with its label. */
export function TextArea({
  label,
  isLabelHidden,
  hint,
  error,
  className,
  value,
  onChange,
  rows = 4,
  ...rest
}: FieldFrame & {
  readonly value: string;
  readonly onChange: (value: string) => void;
} & Omit<ComponentProps<"textarea">, "value" | "onChange" | "className">) {
  return (
    <Field label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} className={className}>
      {(ids) => (
        <textarea
          {...rest}
          {...ids}
          rows={rows}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="field"
        />
      )}
    </Field>
  );
}
