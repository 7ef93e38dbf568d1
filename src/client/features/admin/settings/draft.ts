/** What a person has typed into the form of settings, and how it becomes values of the API. */
import type { ResponseData } from "../../../api/generated.ts";
import { locale } from "../../../base/format.ts";

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
export function nameOfUnit({ name }: DisplayUnit): string {
  const unitDisplay = name === "day" ? "long" : "short";
  const parts = new Intl.NumberFormat(locale(), { style: "unit", unit: name, unitDisplay }).formatToParts(2);
  return parts.find(({ type }) => type === "unit")?.value ?? name;
}

/** The last part of a key: `quota` of `plans.free.quota`. */
export function nameOf(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

/** A value of a setting as it is typed. */
export function toDraft(setting: EditableSetting, value: EditableSetting["value"] = setting.value): Draft {
  const isNone = value === null;
  const unit = unitOf(setting);
  if (typeof value === "number" && unit !== undefined) {
    return { typed: String(Math.round((value / unit.factor) * 1000) / 1000), isNone, isReset: false };
  }
  return { typed: isNone ? "" : String(value), isNone, isReset: false };
}

/** Whether the draft differs from the value now. */
export function isChanged(setting: EditableSetting, draft: Draft): boolean {
  if (draft.isReset) return setting.isStored || setting.problem !== null;
  const now = toDraft(setting);
  return draft.isNone !== now.isNone || (!draft.isNone && draft.typed.trim() !== now.typed);
}

/** The number that a draft means, in base units; undefined if it is no number. */
export function numberOf(setting: EditableSetting, { typed }: Draft): number | undefined {
  const plain = typed.trim().replace(",", ".");
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
