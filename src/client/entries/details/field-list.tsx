import { Plus, X } from "../../ui/icons.ts";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { changeFields } from "./api.ts";
import { text } from "./text.ts";
import { useChange } from "./use-change.ts";
import { Form } from "../../ui/form.tsx";

/** Custom fields of a file (`metadata`) that people or programs have set. */
export function FieldList({
  id,
  fields,
  isReadOnly,
}: {
  readonly id: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly isReadOnly: boolean;
}) {
  const [isAdding, setIsAdding] = useState(false);
  const remove = useChange((field: string) => changeFields(id, { [field]: null }));
  const entries = Object.entries(fields);
  return (
    <section aria-label={text.fields} className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">{text.fields}</h3>
      {entries.length === 0 && <p className="text-sm text-muted">{text.noFields}</p>}
      <ul className="flex flex-col gap-1 text-sm">
        {entries.map(([field, content]) => (
          <li key={field} className="flex items-center gap-2">
            <span className="shrink-0 text-muted">{field}</span>
            <span className="min-w-0 flex-1 break-words">{content}</span>
            {!isReadOnly && (
              <IconButton
                label={text.removeField({ name: field })}
                icon={X}
                iconSize={16}
                onClick={() => remove.mutate(field)}
              />
            )}
          </li>
        ))}
      </ul>
      {!isReadOnly && !isAdding && (
        <Button size="small" icon={Plus} className="self-start" onClick={() => setIsAdding(true)}>
          {text.addField}
        </Button>
      )}
      {isAdding && <AddFieldForm id={id} onAdded={() => setIsAdding(false)} />}
    </section>
  );
}

function AddFieldForm({ id, onAdded }: { readonly id: string; readonly onAdded: () => void }) {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const add = useChange(() => changeFields(id, { [name.trim()]: value }));
  const submit = () => {
    if (name.trim() !== "") add.mutate(undefined, { onSuccess: onAdded });
  };
  return (
    <Form onSubmit={submit} className="flex flex-wrap items-end gap-2">
      <TextField
        label={text.fieldName}
        className="min-w-28 flex-1"
        autoFocus
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <TextField label={text.fieldValue} className="min-w-28 flex-1" value={value} onChange={setValue} />
      <Button type="submit" busy={add.isPending}>
        {text.add}
      </Button>
    </Form>
  );
}
