import { type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

/** The parts that every form field has. */
export interface FieldFrame {
  readonly label: string;
  /** Shows the label to screen readers only. */
  readonly isLabelHidden?: boolean | undefined;
  readonly hint?: ReactNode;
  /** What is wrong with the value, and how to fix it. */
  readonly error?: string | undefined;
  readonly className?: string | undefined;
}

/** Attributes that connect a control to its label, hint and error. */
interface FieldIds {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
}

/** A control with its label above, and its hint and error below. The error is announced when it appears. */
export function Field({
  label,
  isLabelHidden = false,
  hint,
  error,
  className,
  children,
}: FieldFrame & { readonly children: (ids: FieldIds) => ReactNode }) {
  const id = useId();
  const hasHint = hint !== undefined && hint !== null && hint !== "";
  const described = [hasHint && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(" ");
  const ids: FieldIds = {
    id,
    ...(described !== "" && { "aria-describedby": described }),
    ...(error !== undefined && { "aria-invalid": true }),
  };
  return (
    <div className={cx("flex flex-col gap-1", className)}>
      <label htmlFor={id} className={isLabelHidden ? "sr-only" : "text-sm font-medium wrap-anywhere"}>
        {label}
      </label>
      {children(ids)}
      {hasHint && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" className="text-sm text-danger">
          {error}
        </p>
      )}
    </div>
  );
}
