import { useState } from "react";
import type { Entry } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { describeEntry } from "./api.ts";
import { text } from "./text.ts";
import { useChange } from "./use-change.ts";

/** The description of an entry, editable in place. */
export function DescriptionField({
  entry,
  description,
  isReadOnly,
}: {
  readonly entry: Pick<Entry, "id" | "type">;
  readonly description: string;
  readonly isReadOnly: boolean;
}) {
  const [typed, setTyped] = useState<string>();
  const save = useChange((value: string) => describeEntry(entry, value), text.saved);
  const value = typed ?? description;
  const store = () =>
    save.mutate(value, {
      // Shows the server's value again, unless the person has typed more since.
      onSuccess: () => setTyped((now) => (now === value ? undefined : now)),
    });
  return (
    <div className="flex flex-col items-start gap-2">
      <TextArea
        label={text.description}
        className="w-full"
        rows={3}
        readOnly={isReadOnly}
        value={value}
        onChange={setTyped}
      />
      {value !== description && (
        <Button size="small" variant="primary" busy={save.isPending} onClick={store}>
          {text.save}
        </Button>
      )}
    </div>
  );
}
