import type { Draft, EditableSetting } from "./draft.ts";
import { SettingField } from "./setting-field.tsx";

/** The edited settings, for the fields of a card. */
export interface SettingsForm {
  readonly settings: readonly EditableSetting[];
  readonly draftOf: (setting: EditableSetting) => Draft;
  readonly set: (setting: EditableSetting, draft: Draft) => void;
  readonly rejectionOf: (setting: EditableSetting) => string | undefined;
}

/** The field of a setting in the form. */
export function FormField({ form, setting }: { readonly form: SettingsForm; readonly setting: EditableSetting }) {
  return (
    <SettingField
      setting={setting}
      draft={form.draftOf(setting)}
      onChange={(draft) => form.set(setting, draft)}
      rejection={form.rejectionOf(setting)}
    />
  );
}
