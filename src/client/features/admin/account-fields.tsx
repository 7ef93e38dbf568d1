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
    <Select
      label={text.plan}
      value={value}
      onChange={onChange}
      options={[
        { value: "" as const, label: text.defaultPlan },
        ...PLANS.map((plan) => ({ value: plan, label: text.planNames(plan) })),
      ]}
    />
  );
}
