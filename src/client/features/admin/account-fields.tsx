import { planName } from "../../base/plan-names.ts";
import type { Role } from "../../api/types.ts";
import { Select } from "../../ui/select.tsx";
import { text } from "./text.ts";
import { type PlanName, PLANS, ROLES } from "./types.ts";

/** The role of an account. */
export function RoleSelect({ value, onChange }: { readonly value: Role; readonly onChange: (value: Role) => void }) {
  return (
    <Select
      label={text.role}
      hint={text.roleHint}
      value={value}
      onChange={onChange}
      options={ROLES.map((role) => ({ value: role, label: text.roles(role) }))}
    />
  );
}

/** The plan of a new account; the empty choice uses the configured default. */
export function NewPlanSelect({
  value,
  onChange,
}: {
  readonly value: PlanName | "";
  readonly onChange: (value: PlanName | "") => void;
}) {
  return (
    <OptionalSelect
      label={text.plan}
      none={text.defaultPlan}
      values={PLANS}
      nameOf={planName}
      value={value}
      onChange={onChange}
    />
  );
}

/**
 * A choice among known values, or none of them.
 * @param none the label of the empty choice
 */
export function OptionalSelect<T extends string>({
  label,
  none,
  values,
  nameOf,
  value,
  onChange,
  className,
}: {
  readonly label: string;
  readonly none: string;
  readonly values: readonly T[];
  readonly nameOf: (value: T) => string;
  /** Other text than one of the values, for example from an address, counts as none. */
  readonly value: string | undefined;
  readonly onChange: (value: T | "") => void;
  readonly className?: string;
}) {
  return (
    <Select<T | "">
      label={label}
      value={values.find((known) => known === value) ?? ""}
      onChange={onChange}
      options={[{ value: "", label: none }, ...values.map((known) => ({ value: known, label: nameOf(known) }))]}
      className={className}
    />
  );
}
