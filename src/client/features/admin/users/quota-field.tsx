import { RadioGroup } from "../../../ui/radio-group.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { text } from "../text.ts";

const GIGABYTE = 1024 ** 3;

/** The chosen quota of an account; gigabytes as typed. */
interface QuotaChoice {
  readonly kind: "plan" | "own" | "none";
  readonly gigabytes: string;
}

/** The choice as an API value; undefined if the typed number is not a valid size. */
export function toQuota({ kind, gigabytes }: QuotaChoice): number | null | "plan" | undefined {
  if (kind !== "own") return kind === "plan" ? "plan" : null;
  const number = Number(gigabytes.trim().replace(",", "."));
  const bytes = Math.round(number * GIGABYTE);
  return gigabytes.trim() === "" || !(number >= 0) || !Number.isSafeInteger(bytes) ? undefined : bytes;
}

/** The choice that represents a quota. */
export function toQuotaChoice({ quota, quotaOverride }: { quota: number | null; quotaOverride: boolean }): QuotaChoice {
  if (!quotaOverride) return { kind: "plan", gigabytes: "" };
  if (quota === null) return { kind: "none", gigabytes: "" };
  return { kind: "own", gigabytes: String(Math.round((quota / GIGABYTE) * 1000) / 1000) };
}

/** The quota of an account: from its plan, a fixed size, or unlimited. */
export function QuotaField({
  value,
  onChange,
}: {
  readonly value: QuotaChoice;
  readonly onChange: (value: QuotaChoice) => void;
}) {
  return (
    <div className="flex flex-col gap-2">
      <RadioGroup
        label={text.quota}
        value={value.kind}
        onChange={(kind) => onChange({ ...value, kind })}
        options={[
          { value: "plan", label: text.quotaOfPlan },
          { value: "own", label: text.quotaOwn },
          { value: "none", label: text.quotaNone },
        ]}
      />
      {value.kind === "own" && (
        <TextField
          label={text.quotaGigabytes}
          inputMode="decimal"
          value={value.gigabytes}
          onChange={(gigabytes) => onChange({ ...value, gigabytes })}
          error={value.gigabytes !== "" && toQuota(value) === undefined ? text.quotaInvalid : undefined}
          className="w-40"
        />
      )}
    </div>
  );
}
