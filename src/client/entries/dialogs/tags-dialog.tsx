import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Entry, FileRecord } from "../../api/types.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { parseTags, tagsQuery } from "../tags.ts";
import { text } from "./text.ts";
import { locale } from "../../base/format.ts";
import { withMember } from "../../base/sets.ts";

/** Adds tags to the selected files and removes others. */
export function TagsDialog({
  entries,
  onApply,
  onClose,
}: {
  readonly entries: readonly Entry[];
  readonly onApply: (add: readonly string[], remove: readonly string[]) => void;
  readonly onClose: () => void;
}) {
  const files = entries.filter((entry): entry is FileRecord => entry.type === "file");
  const present = [...new Set(files.flatMap(({ tags }) => tags))].sort((one, other) =>
    one.localeCompare(other, locale()),
  );
  const [added, setAdded] = useState("");
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set());
  const { data } = useQuery(tagsQuery);
  const listId = useId();

  const submit = () => {
    const add = parseTags(added);
    onClose();
    if (add.length > 0 || removed.size > 0) onApply(add, [...removed]);
  };

  return (
    <FormDialog
      onClose={onClose}
      title={text.tagsTitle({ n: files.length })}
      {...(files.length < entries.length && { description: text.onlyFilesHaveTags })}
      action={text.apply}
      onSubmit={submit}
    >
      <TextField
        label={text.addTags}
        hint={text.addTagsHint}
        value={added}
        onChange={setAdded}
        list={listId}
        autoComplete="off"
      />
      <datalist id={listId}>
        {data?.tags.slice(0, 200).map(({ tag }) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
      {present.length > 0 && (
        <fieldset>
          <legend className="mb-1 text-sm font-medium">{text.removeTags}</legend>
          <div className="flex max-h-48 flex-col overflow-y-auto">
            {present.map((tag) => (
              <Checkbox
                key={tag}
                label={tag}
                checked={removed.has(tag)}
                onChange={(isRemoved) => setRemoved(withMember(removed, tag, isRemoved))}
              />
            ))}
          </div>
        </fieldset>
      )}
    </FormDialog>
  );
}
