import { OptionalSelect } from "./account-fields.tsx";
import { useState } from "react";
import type { TextSearch } from "../../base/search-params.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { ACTION_GROUPS, text as auditText } from "./sections/audit-text.ts";
import { text } from "./text.ts";
import { Form } from "../../ui/form.tsx";

const OUTCOMES = ["done", "refused", "failed"] as const;
const EMPTY = { user: "", action: "", outcome: "", ip: "", from: "", to: "" } as const;
type Name = keyof typeof EMPTY;

/** The filter of the audit log. It takes effect when it is applied. */
export function AuditFilter({
  values,
  onApply,
}: {
  readonly values: TextSearch;
  readonly onApply: (values: TextSearch) => void;
}) {
  const [typed, setTyped] = useState<Readonly<Record<Name, string>>>(() => ({
    user: values["user"] ?? "",
    action: values["action"] ?? "",
    outcome: values["outcome"] ?? "",
    ip: values["ip"] ?? "",
    from: values["from"] ?? "",
    to: values["to"] ?? "",
  }));
  const { action = "" } = values;
  const set = (name: Name) => (value: string) => setTyped({ ...typed, [name]: value });
  return (
    <Form
      className="mb-4 grid grid-cols-2 items-end gap-3 md:grid-cols-3 xl:grid-cols-6"
      onSubmit={() => onApply(typed)}
    >
      <TextField label={text.auditUser} value={typed.user} onChange={set("user")} autoComplete="off" />
      <OptionalSelect
        label={text.auditAction}
        none={auditText.allActions}
        // The address can also have a single action, for example from a script.
        values={ACTION_GROUPS.includes(action) || action === "" ? ACTION_GROUPS : [...ACTION_GROUPS, action]}
        nameOf={auditText.groups}
        value={typed.action}
        onChange={set("action")}
      />
      <OptionalSelect
        label={text.auditOutcome}
        none={text.allOutcomes}
        values={OUTCOMES}
        nameOf={text.outcomes}
        value={typed.outcome}
        onChange={set("outcome")}
      />
      <TextField label={text.auditAddress} value={typed.ip} onChange={set("ip")} autoComplete="off" />
      <TextField label={text.from} type="date" value={typed.from} onChange={set("from")} />
      <TextField label={text.to} type="date" value={typed.to} onChange={set("to")} />
      <div className="col-span-full flex gap-2">
        <Button type="submit" variant="primary">
          {text.applyFilter}
        </Button>
        <Button onClick={() => onApply(EMPTY)}>{text.clearFilter}</Button>
      </div>
    </Form>
  );
}
