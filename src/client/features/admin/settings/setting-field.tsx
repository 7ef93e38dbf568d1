import { planName } from "../../../base/plan-names.ts";
import type { ReactNode } from "react";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Select } from "../../../ui/select.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { formatNumber } from "../../../base/format.ts";
import {
  type Draft,
  type EditableSetting,
  formatInUnit,
  nameOf,
  numberOf,
  toDraft,
  nameOfUnit,
  unitOf,
} from "./draft.ts";
import { text } from "./text.ts";

/** Props of {@link SettingField}. */
interface SettingFieldProps {
  readonly setting: EditableSetting;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  /** What the server said about the value. */
  readonly rejection?: string | undefined;
  readonly label?: string;
  readonly hint?: ReactNode;
}

/** The field of one setting. A setting that is set elsewhere is shown, and can't be changed. */
export function SettingField({ setting, draft, onChange, rejection, label, hint }: SettingFieldProps) {
  const { key, isEditable, isStored, problem } = setting;
  const unit = unitOf(setting);
  const name = label ?? labelOf(setting);
  const full = unit === undefined ? name : text.inUnit({ label: name, unit: nameOfUnit(unit) });
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <Control
        setting={setting}
        draft={draft}
        label={full}
        hint={hint ?? (text.hints(key, "") || undefined)}
        error={rejection ?? (isEditable ? errorOf(setting, draft) : undefined)}
        onChange={(change) => onChange({ ...draft, isReset: false, ...change })}
      />
      <p className="flex flex-wrap items-center gap-x-3 text-xs text-muted">
        {!isEditable && <span>{fixedText(setting.fixedBy ?? "")}</span>}
        {problem !== null && isEditable && <span className="text-danger">{text.ignored({ why: problem })}</span>}
        {draft.isReset && <span>{text.willReset}</span>}
        {isEditable && (isStored || problem !== null) && !draft.isReset && (
          <>
            <span>{text.defaultIs({ value: defaultOf(setting) })}</span>
            <button
              type="button"
              aria-label={text.resetOf({ label: name })}
              className="min-h-6 font-medium text-accent underline"
              onClick={() => onChange({ ...toDraft(setting, setting.default), isReset: true })}
            >
              {text.reset}
            </button>
          </>
        )}
      </p>
    </div>
  );
}

interface ControlProps {
  readonly setting: EditableSetting;
  readonly draft: Draft;
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: string | undefined;
  readonly onChange: (change: Partial<Draft>) => void;
}

function Control({ setting, draft, label, hint, error, onChange }: ControlProps) {
  const { key, kind, choices, isEditable, noneWord } = setting;
  const common = { label, hint, disabled: !isEditable };
  if (kind === "toggle") {
    return (
      <Switch
        label={label}
        {...(hint !== "" && { hint })}
        disabled={!isEditable}
        checked={draft.typed === "true"}
        onChange={(isOn) => onChange({ typed: String(isOn) })}
      />
    );
  }
  if (kind === "choice") {
    const nameOfChoice = (choice: string) =>
      key === "defaultPlan" ? planName(choice) : text.choices(`${key}.${choice}`, choice);
    return (
      <Select
        {...common}
        error={error}
        value={draft.typed}
        onChange={(typed) => onChange({ typed })}
        options={(choices ?? []).map((value) => ({ value, label: nameOfChoice(value) }))}
      />
    );
  }
  const hasNone = noneWord !== null && kind !== "text";
  return (
    <>
      <TextField
        {...common}
        error={error}
        value={draft.isNone && hasNone ? "" : draft.typed}
        onChange={(typed) => onChange({ typed, isNone: false })}
        disabled={!isEditable || (draft.isNone && hasNone)}
        {...(kind !== "text" && { inputMode: "decimal" as const })}
        autoComplete="off"
      />
      {hasNone && (
        <Checkbox
          label={text.noLimit}
          aria-label={`${text.noLimit}: ${label}`}
          disabled={!isEditable}
          checked={draft.isNone}
          onChange={(isNone) => onChange({ isNone })}
        />
      )}
    </>
  );
}

function labelOf({ key }: EditableSetting): string {
  const name = nameOf(key);
  if (key.includes(".limit.")) return text.categories(name);
  return text.labels(key.startsWith("plans.") ? name : key);
}

/** Where a setting is fixed, without the path of the file. */
function fixedText(source: string): string {
  return source.includes(".toml:") ? text.fixedByFile : text.fixedBy({ source });
}

function defaultOf(setting: EditableSetting): string {
  const draft = toDraft(setting, setting.default);
  if (draft.isNone) return setting.kind === "text" ? text.notSet : text.noLimit;
  if (setting.kind === "choice") {
    return setting.key === "defaultPlan"
      ? planName(draft.typed)
      : text.choices(`${setting.key}.${draft.typed}`, draft.typed);
  }
  if (setting.kind === "toggle" || setting.kind === "text") return setting.defaultText;
  return formatInUnit(Number(setting.default), unitOf(setting));
}

/** What is wrong with a number. The server has the last word. */
export function errorOf(setting: EditableSetting, draft: Draft): string | undefined {
  const { kind, min, max } = setting;
  if (draft.isNone || draft.isReset || ["toggle", "choice", "text", "list"].includes(kind)) return undefined;
  const number = numberOf(setting, draft);
  if (number === undefined) return text.invalidNumber;
  if (min === null || max === null || (number >= min && number <= max)) return undefined;
  const factor = unitOf(setting)?.factor ?? 1;
  return text.range({ min: formatNumber(min / factor), max: formatNumber(max / factor) });
}
