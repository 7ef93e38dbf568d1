import type { ShareRecord } from "../../api/types.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { formatDateTime } from "../../base/format.ts";
import { PasswordField } from "../../ui/password-field.tsx";
import { RadioGroup } from "../../ui/radio-group.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import type { ShareTarget } from "./api.ts";
import type { DraftExpiry, DraftProblems, ShareDraft } from "./draft.ts";
import { PeopleField } from "./people-field.tsx";
import { text } from "./text.ts";
import { Form } from "../../ui/form.tsx";

const LABEL_HINTS = {
  link: () => text.labelHint,
  upload: () => text.labelHintDropBox,
  account: () => text.labelHintPerson,
} as const;

/**
 * The settings of a share. The kind can be chosen only for a new one.
 * @param id of the form, for a button outside it
 */
export function ShareForm({
  id,
  draft,
  onChange,
  onSubmit,
  problems,
  type,
  canHideLocation,
  former,
}: {
  readonly id: string;
  readonly draft: ShareDraft;
  readonly onChange: (draft: ShareDraft) => void;
  readonly onSubmit: () => void;
  readonly problems: DraftProblems;
  readonly type: ShareTarget["type"];
  /** Offers to hide where photos were taken. */
  readonly canHideLocation: boolean;
  readonly former?: ShareRecord;
}) {
  const set = (change: Partial<ShareDraft>) => onChange({ ...draft, ...change });
  return (
    <Form id={id} noValidate onSubmit={onSubmit} className="flex flex-col gap-4">
      {former === undefined && <KindChoice draft={draft} onChange={set} isFolder={type === "folder"} />}
      {draft.kind === "account" && (
        <PersonFields draft={draft} onChange={set} problems={problems} isNew={former === undefined} type={type} />
      )}
      <ExpiryFields draft={draft} onChange={set} problems={problems} former={former} />
      {draft.kind !== "account" && <PasswordFields draft={draft} onChange={set} problems={problems} former={former} />}
      {draft.kind === "link" && (
        <LinkFields {...{ draft, problems, canHideLocation }} onChange={set} canPin={type === "file"} />
      )}
      {draft.kind === "upload" && <DropBoxFields draft={draft} onChange={set} problems={problems} />}
      <TextField
        label={text.label}
        hint={LABEL_HINTS[draft.kind]()}
        value={draft.label}
        maxLength={200}
        onChange={(label) => set({ label })}
      />
    </Form>
  );
}

interface PartProps {
  readonly draft: ShareDraft;
  readonly onChange: (change: Partial<ShareDraft>) => void;
}

type CheckedPartProps = PartProps & { readonly problems: DraftProblems };

function KindChoice({ draft, onChange, isFolder }: PartProps & { readonly isFolder: boolean }) {
  return (
    <RadioGroup
      label={text.who}
      value={draft.kind}
      onChange={(kind) => onChange({ kind })}
      options={[
        { value: "link", label: text.anyone, hint: text.anyoneHint },
        { value: "account", label: text.person, hint: text.personHint },
        ...(isFolder ? [{ value: "upload" as const, label: text.dropBox, hint: text.dropBoxHint }] : []),
      ]}
    />
  );
}

function PersonFields({
  draft,
  onChange,
  problems,
  isNew,
  type,
}: CheckedPartProps & { readonly isNew: boolean; readonly type: ShareTarget["type"] }) {
  return (
    <>
      {isNew && (
        <PeopleField chosen={draft.recipients} typed={draft.typed} error={problems.recipients} onChange={onChange} />
      )}
      {type !== "album" && <RightsFields draft={draft} onChange={onChange} />}
    </>
  );
}

/** Albums are always shared for viewing. */
function RightsFields({ draft, onChange }: PartProps) {
  return (
    <>
      <Select
        label={text.rights}
        value={draft.canWrite ? "write" : "read"}
        // The server's default: an account that may change a file also sees its earlier versions.
        onChange={(rights) => onChange({ canWrite: rights === "write", showsVersions: rights === "write" })}
        options={[
          { value: "read", label: text.mayRead },
          { value: "write", label: text.mayWrite },
        ]}
      />
      <Checkbox
        label={text.versions}
        hint={text.versionsHint}
        checked={draft.showsVersions}
        onChange={(showsVersions) => onChange({ showsVersions })}
      />
    </>
  );
}

function ExpiryFields({
  draft,
  onChange,
  problems,
  former,
}: CheckedPartProps & { readonly former: ShareRecord | undefined }) {
  const current = former?.expiresAt ?? null;
  const options: { value: DraftExpiry; label: string }[] = [
    { value: "never", label: text.never },
    { value: "1", label: text.days({ n: 1 }) },
    { value: "7", label: text.days({ n: 7 }) },
    { value: "30", label: text.days({ n: 30 }) },
    { value: "date", label: text.untilDate },
    ...(current === null
      ? []
      : [{ value: "unchanged" as const, label: text.unchangedExpiry({ when: formatDateTime(current) }) }]),
  ];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select label={text.expiry} value={draft.expiry} onChange={(expiry) => onChange({ expiry })} options={options} />
      {draft.expiry === "date" && (
        <TextField
          label={text.expiryDate}
          type="datetime-local"
          value={draft.date}
          error={problems.date}
          onChange={(date) => onChange({ date })}
        />
      )}
    </div>
  );
}

function PasswordFields({
  draft,
  onChange,
  problems,
  former,
}: CheckedPartProps & { readonly former: ShareRecord | undefined }) {
  return (
    <div className="flex flex-col gap-2">
      <Checkbox
        label={text.password}
        checked={draft.hasPassword}
        onChange={(hasPassword) => onChange({ hasPassword })}
      />
      {draft.hasPassword && (
        <PasswordField
          label={text.passwordField}
          autoComplete="new-password"
          hint={former?.hasPassword === true ? text.passwordUnchanged : text.passwordHint}
          value={draft.password}
          error={problems.password}
          onChange={(password) => onChange({ password })}
        />
      )}
    </div>
  );
}

function LinkFields({
  draft,
  onChange,
  problems,
  canHideLocation,
  canPin,
}: CheckedPartProps & { readonly canHideLocation: boolean; readonly canPin: boolean }) {
  return (
    <>
      <div className="flex flex-col gap-2">
        <Checkbox
          label={text.limitDownloads}
          checked={draft.limitsDownloads}
          onChange={(limitsDownloads) => onChange({ limitsDownloads })}
        />
        {draft.limitsDownloads && (
          <TextField
            label={text.downloadsField}
            inputMode="numeric"
            value={draft.downloads}
            error={problems.downloads}
            onChange={(downloads) => onChange({ downloads })}
          />
        )}
      </div>
      {canHideLocation && (
        <Checkbox
          label={text.hideLocation}
          hint={text.hideLocationHint}
          checked={draft.hidesLocation}
          onChange={(hidesLocation) => onChange({ hidesLocation })}
        />
      )}
      {canPin && (
        <Checkbox
          label={text.pinned}
          hint={text.pinnedHint}
          checked={draft.isPinned}
          onChange={(isPinned) => onChange({ isPinned })}
        />
      )}
    </>
  );
}

function DropBoxFields({ draft, onChange, problems }: CheckedPartProps) {
  return (
    <div className="flex flex-col gap-2">
      <Checkbox
        label={text.limitUploads}
        checked={draft.limitsUploads}
        onChange={(limitsUploads) => onChange({ limitsUploads })}
      />
      {draft.limitsUploads && (
        <TextField
          label={text.uploadsField}
          inputMode="decimal"
          value={draft.uploadMegabytes}
          error={problems.uploadMegabytes}
          onChange={(uploadMegabytes) => onChange({ uploadMegabytes })}
        />
      )}
      <TextField
        label={text.perAddressField}
        hint={text.perAddressHint}
        inputMode="numeric"
        value={draft.uploadsPerAddress}
        error={problems.uploadsPerAddress}
        onChange={(uploadsPerAddress) => onChange({ uploadsPerAddress })}
      />
    </div>
  );
}
