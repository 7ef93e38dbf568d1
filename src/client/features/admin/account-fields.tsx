import type { Role } from "../../api/types.ts";
import { Select } from "../../ui/select.tsx";
import { text } from "./text.ts";
import { type PlanName, PLANS, ROLES } from "./types.ts";

/** What an account may do. */
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

/** The plan that a new account gets; the empty one is what the configuration says. */
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
