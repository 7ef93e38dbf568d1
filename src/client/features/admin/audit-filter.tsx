import { useState } from "react";
import type { TextSearch } from "../../base/search-params.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { text } from "./text.ts";

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
  const set = (name: Name) => (value: string) => setTyped({ ...typed, [name]: value });
  return (
    <form
      className="mb-4 grid grid-cols-2 items-end gap-3 md:grid-cols-3 xl:grid-cols-6"
      onSubmit={(event) => {
        event.preventDefault();
        onApply(typed);
      }}
    >
      <TextField label={text.auditUser} value={typed.user} onChange={set("user")} autoComplete="off" />
      <TextField
        label={text.auditAction}
        value={typed.action}
        onChange={set("action")}
        autoComplete="off"
        placeholder="user.change"
        title={text.auditActionHint}
      />
      <Select
        label={text.auditOutcome}
        value={OUTCOMES.find((known) => known === typed.outcome) ?? ""}
        onChange={set("outcome")}
        options={[
          { value: "" as const, label: text.allOutcomes },
          ...OUTCOMES.map((value) => ({ value, label: text.outcomes(value) })),
        ]}
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
    </form>
  );
}
