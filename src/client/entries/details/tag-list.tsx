import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "../../ui/icons.ts";
import { useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { parseTags, tagsQuery } from "../tags.ts";
import { changeTags } from "./api.ts";
import { text } from "./text.ts";
import { useChange } from "./use-change.ts";
import { Form } from "../../ui/form.tsx";

/** The tags of a file. */
export function TagList({
  id,
  tags,
  isReadOnly,
}: {
  readonly id: string;
  readonly tags: readonly string[];
  readonly isReadOnly: boolean;
}) {
  const remove = useChange((tag: string) => changeTags(id, { remove: [tag] }));
  return (
    <section aria-label={text.tags} className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">{text.tags}</h3>
      {tags.length === 0 && <p className="text-sm text-muted">{text.noTags}</p>}
      <ul className="flex flex-wrap gap-1.5">
        {tags.map((tag) => (
          <li
            key={tag}
            className="inline-flex max-w-full items-center rounded-full bg-accent-soft ps-3 text-sm text-accent"
          >
            <span className="truncate py-1 pe-1">{tag}</span>
            {isReadOnly ? (
              <span className="w-2" />
            ) : (
              <button
                type="button"
                aria-label={text.removeTag({ tag })}
                onClick={() => remove.mutate(tag)}
                className="inline-flex size-7 items-center justify-center rounded-full hover:bg-sunken"
              >
                <X aria-hidden size={14} />
              </button>
            )}
          </li>
        ))}
      </ul>
      {!isReadOnly && <AddTagForm id={id} tags={tags} />}
    </section>
  );
}

/** Adds tags, with the account's other tags as suggestions. */
function AddTagForm({ id, tags }: { readonly id: string; readonly tags: readonly string[] }) {
  const listId = useId();
  const [typed, setTyped] = useState("");
  const known = useQuery(tagsQuery);
  const add = useChange((added: readonly string[]) => changeTags(id, { add: added }));
  const submit = () => {
    const added = parseTags(typed);
    if (added.length > 0) add.mutate(added, { onSuccess: () => setTyped("") });
  };
  return (
    <Form onSubmit={submit} className="flex items-end gap-2">
      <TextField
        label={text.addTag}
        isLabelHidden
        placeholder={text.addTag}
        className="min-w-0 flex-1"
        list={listId}
        maxLength={200}
        value={typed}
        onChange={setTyped}
      />
      <datalist id={listId}>
        {known.data?.tags.map(({ tag }) => !tags.includes(tag) && <option key={tag} value={tag} />)}
      </datalist>
      <Button type="submit" icon={Plus} busy={add.isPending}>
        {text.add}
      </Button>
    </Form>
  );
}
