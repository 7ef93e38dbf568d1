/** What a person has typed into the form of settings, and how it becomes values of the API. */
import type { ResponseData } from "../../../api/generated.ts";
import { formatNumber, locale } from "../../../base/format.ts";

/** A setting of GET /api/admin/settings. */
export type EditableSetting = ResponseData["GET /api/admin/settings"]["settings"][number];

/** The edited value of a setting. */
export interface Draft {
  /** As typed, in the unit of {@link unitOf}. */
  readonly typed: string;
  readonly isNone: boolean;
  /** Removes the value of the page. */
  readonly isReset: boolean;
}

/** The edited values, by key. */
export type Drafts = ReadonlyMap<string, Draft>;

/** The unit in which a setting is shown. */
export interface DisplayUnit {
  /** As in `Intl`. */
  readonly name: "megabyte" | "gigabyte" | "day";
  /** Base units (bytes, milliseconds) in one. */
  readonly factor: number;
}

const MEGABYTE: DisplayUnit = { name: "megabyte", factor: 1024 ** 2 };
const GIGABYTE: DisplayUnit = { name: "gigabyte", factor: 1024 ** 3 };
const DAY: DisplayUnit = { name: "day", factor: 86_400_000 };

/** The unit of a setting for people; undefined if it has none. */
export function unitOf({ key, unit, value }: EditableSetting): DisplayUnit | undefined {
  if (unit === "ms") return DAY;
  if (unit !== "bytes") return undefined;
  const isSmall = key.endsWith("maxFileSize") && typeof value === "number" && value < GIGABYTE.factor;
  return isSmall ? MEGABYTE : GIGABYTE;
}

/** The name of a unit in the language of the page: `GB`, `days`. */
export function nameOfUnit(unit: DisplayUnit): string {
  return (
    unitFormat(unit)
      .formatToParts(2)
      .find(({ type }) => type === "unit")?.value ?? unit.name
  );
}

/** A number in base units as people read it: `20 GB`, `1 day`. */
export function formatInUnit(n: number, unit: DisplayUnit | undefined): string {
  return unit === undefined ? formatNumber(n) : unitFormat(unit).format(n / unit.factor);
}

function unitFormat({ name }: DisplayUnit): Intl.NumberFormat {
  const unitDisplay = name === "day" ? "long" : "short";
  return new Intl.NumberFormat(locale(), { style: "unit", unit: name, unitDisplay });
}

/** What the language of the page writes between a number and its fraction. */
function decimalSeparator(): string {
  const parts = new Intl.NumberFormat(locale()).formatToParts(1.5);
  return parts.find(({ type }) => type === "decimal")?.value ?? ".";
}

/** The last part of a key: `quota` of `plans.free.quota`. */
export function nameOf(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

/** A value of a setting as it is typed. */
export function toDraft(setting: EditableSetting, value: EditableSetting["value"] = setting.value): Draft {
  const isNone = value === null;
  if (typeof value !== "number") return { typed: isNone ? "" : String(value), isNone, isReset: false };
  const unit = unitOf(setting);
  const number = unit === undefined ? value : Math.round((value / unit.factor) * 1000) / 1000;
  return { typed: String(number).replace(".", decimalSeparator()), isNone, isReset: false };
}

/** Whether the draft differs from the value now. */
export function isChanged(setting: EditableSetting, draft: Draft): boolean {
  if (draft.isReset) return setting.isStored || setting.problem !== null;
  const now = toDraft(setting);
  return draft.isNone !== now.isNone || (!draft.isNone && draft.typed.trim() !== now.typed);
}

/** The number that a draft means, in base units; undefined if it is no number. */
export function numberOf(setting: EditableSetting, { typed }: Draft): number | undefined {
  const separator = decimalSeparator();
  // `1,000` is a thousand in some languages, and one in others. Neither is guessed.
  if (/^\d{1,3}[.,]\d{3}$/.test(typed.trim()) && !typed.includes(separator)) return undefined;
  const plain = typed.trim().replace(separator, ".").replace(",", ".");
  const number = Number(plain);
  if (plain === "" || !Number.isFinite(number)) return undefined;
  const factor = unitOf(setting)?.factor;
  return factor === undefined ? number : Math.round(number * factor);
}

/** The value to send; undefined if the draft is not a value. */
export function toValue(setting: EditableSetting, draft: Draft): string | number | boolean | null | undefined {
  if (draft.isReset) return null;
  const { kind } = setting;
  if (kind === "text") return draft.typed.trim() === "" ? null : draft.typed.trim();
  if (draft.isNone) return setting.noneWord ?? undefined;
  if (kind === "toggle") return draft.typed === "true";
  if (kind === "choice" || kind === "list") return draft.typed;
  const number = numberOf(setting, draft);
  return kind === "duration" && number !== undefined ? `${Math.round(number / 1000)}s` : number;
}
