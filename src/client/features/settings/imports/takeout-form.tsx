import { useState } from "react";
import { errorAt } from "../../../api/rejection.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { FormRejection } from "../../../ui/rejection-message.tsx";
import { ArchiveField, useArchives } from "./archive-field.tsx";
import { type Target, TargetFields } from "./target-fields.tsx";
import { text } from "./text.ts";
import { useStart } from "./use-start.ts";

const NONE: ReadonlySet<string> = new Set();

/** Starts an import from archives of Google Takeout among the own files. */
export function TakeoutForm({ onStarted }: { readonly onStarted: (id: string) => void }) {
  const [source, setSource] = useState<string>();
  // New uploads are selected, so this remembers what is not.
  const [excluded, setExcluded] = useState(NONE);
  const [target, setTarget] = useState<Target>({ folder: "/Photos", restoreDeleted: false });
  const [isMissing, setMissing] = useState(false);
  const archives = useArchives(source);
  const { start, rejection } = useStart(onStarted);
  const chosen = (archives.data ?? []).filter(({ id }) => !excluded.has(id));
  const clear = () => {
    setMissing(false);
    start.reset();
  };
  const submit = () => {
    setMissing(chosen.length === 0);
    if (chosen.length > 0) start.mutate({ kind: "takeout", fileIds: chosen.map(({ id }) => id), ...target });
  };
  const isEmpty = isMissing && chosen.length === 0;
  return (
    <Form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <FormRejection rejection={rejection} />
      <ArchiveField
        query={archives}
        folder={source}
        onFolder={(folder) => {
          setSource(folder);
          clear();
        }}
        excluded={excluded}
        onExclude={(next) => {
          setExcluded(next);
          clear();
        }}
        error={isEmpty ? text.chooseArchives : errorAt(rejection, "fileIds")}
      />
      <TargetFields
        target={target}
        error={errorAt(rejection, "folder")}
        onChange={(next) => {
          setTarget(next);
          clear();
        }}
      />
      <div>
        <Button type="submit" variant="primary" busy={start.isPending}>
          {text.start}
        </Button>
      </div>
    </Form>
  );
}
