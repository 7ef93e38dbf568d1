import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import { useMutation } from "@tanstack/react-query";
import type { ResponseData } from "../../../api/generated.ts";
import { ApiError, request } from "../../../api/http.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { confirm } from "../../../ui/confirm.tsx";
import { Form } from "../../../ui/form.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { showError, toast } from "../../../ui/toast.tsx";
import { useAdminData, useRefresh } from "../api.ts";
import { type Drafts, type EditableSetting, isChanged, toDraft, toValue } from "./draft.ts";
import { MailCard } from "./mail-card.tsx";
import { PlanFields, RateFields } from "./plan-fields.tsx";
import { FormField, type SettingsForm } from "./form-field.tsx";
import { errorOf } from "./setting-field.tsx";
import { text } from "./text.ts";

type SettingsData = ResponseData["GET /api/admin/settings"];

/** Changes settings of the server while it runs. What is set elsewhere is shown. */
export function SettingsSection() {
  const query = useAdminData("GET /api/admin/settings");
  return <Loaded query={query}>{(data) => <SettingsEditor data={data} />}</Loaded>;
}

function SettingsEditor({ data }: { readonly data: SettingsData }) {
  const [drafts, setDrafts] = useState<Drafts>(new Map());
  const refresh = useRefresh();
  const changed = data.settings.filter((setting) => {
    const draft = drafts.get(setting.key);
    return draft !== undefined && isChanged(setting, draft);
  });
  const isDirty = changed.length > 0;
  const save = useMutation({
    mutationFn: () =>
      request<SettingsData>("PATCH", "/api/admin/settings", { body: { values: valuesOf(changed, drafts) } }),
    onError: (error) => rejectionOf(error) === undefined && showError(error),
    onSuccess: async () => {
      await refresh();
      setDrafts(new Map());
      toast({ text: text.saved, tone: "success" });
    },
  });
  const isInvalid = changed.some(
    (setting) => errorOf(setting, drafts.get(setting.key) ?? toDraft(setting)) !== undefined,
  );
  useConfirmedLeaving(isDirty);
  const form: SettingsForm = {
    settings: data.settings,
    draftOf: (setting) => drafts.get(setting.key) ?? toDraft(setting),
    set: (setting, draft) => {
      save.reset();
      setDrafts(new Map(drafts).set(setting.key, draft));
    },
    rejectionOf: ({ key }) => {
      const rejection = rejectionOf(save.error);
      return rejection?.key === key ? rejection.message : undefined;
    },
  };
  return (
    <Form className="flex flex-col gap-4" onSubmit={() => isDirty && !isInvalid && save.mutate()}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <GroupCard form={form} group="signup" />
        <GroupCard form={form} group="retention" />
        <GroupCard form={form} group="search" />
      </div>
      <PlanFields form={form} />
      <RateFields form={form} />
      <MailCard form={form} mail={data.mail} isDirty={isDirty} />
      {isDirty && (
        <div className="sticky bottom-20 z-10 md:bottom-3 flex flex-wrap items-center justify-end gap-3 rounded-2xl border border-line-strong bg-raised p-3 shadow-lg">
          <p role="status" className="me-auto text-sm font-medium">
            {text.unsaved({ n: changed.length })}
          </p>
          <Button onClick={() => setDrafts(new Map())}>{text.discard}</Button>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={isInvalid}>
            {text.save}
          </Button>
        </div>
      )}
    </Form>
  );
}

function GroupCard({ form, group }: { readonly form: SettingsForm; readonly group: string }) {
  const { settings, draftOf } = form;
  const isOpen = settings.some((setting) => setting.key === "signup" && draftOf(setting).typed === "open");
  return (
    <Card title={text.groups(group)} description={text.groupHints(group)}>
      <div className="flex flex-col gap-4">
        {settings
          .filter((setting) => setting.group === group)
          .map((setting) => (
            <FormField key={setting.key} form={form} setting={setting} />
          ))}
        {group === "signup" && isOpen && <Notice>{text.openWarning}</Notice>}
      </div>
    </Card>
  );
}

function valuesOf(changed: readonly EditableSetting[], drafts: Drafts): Record<string, unknown> {
  return Object.fromEntries(
    changed.map((setting) => [setting.key, toValue(setting, drafts.get(setting.key) ?? toDraft(setting))]),
  );
}

/** The setting that the server rejected, and why. */
function rejectionOf(error: unknown): { key: string; message: string } | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { field } = error.details;
  return typeof field === "string" && field !== "values" ? { key: field, message: error.message } : undefined;
}

/** Asks before the page is left with unsaved changes. */
function useConfirmedLeaving(isDirty: boolean): void {
  useBlocker({
    // A dialog that opens is a history entry of the same page.
    shouldBlockFn: async ({ current, next }) =>
      current.pathname !== next.pathname &&
      !(await confirm({ title: text.leaveTitle, body: text.leaveBody, action: text.leave, danger: true })),
    disabled: !isDirty,
    enableBeforeUnload: isDirty,
  });
}
