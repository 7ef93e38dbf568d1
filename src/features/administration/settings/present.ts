import { translateMessage } from "../../../translations/error-texts.ts";
import { translateSettingText } from "../../../translations/setting-texts.ts";
import type { SettingState } from "./types.ts";

type Plain = string | number | boolean | null;

const UNITS = { "": null, Ms: "ms", Bytes: "bytes" } as const;

/** A setting as the API shows it. @param language of the help text and the problem */
export function presentSetting(state: SettingState, language: string) {
  const { shape, fixedBy, problem } = state;
  return {
    key: state.key,
    group: state.group,
    kind: shape.type,
    value: plain(state.value),
    text: state.text,
    source: state.source,
    isStored: state.source === "stored",
    isEditable: fixedBy === undefined,
    fixedBy: fixedBy ?? null,
    default: plain(state.fallback),
    defaultText: state.fallbackText,
    min: shape.min ?? null,
    max: shape.max ?? null,
    unit: UNITS[state.unit],
    choices: shape.choices === undefined ? null : [...shape.choices],
    noneWord: shape.noneWord ?? null,
    needsRestart: false,
    problem: problem === undefined ? null : translateMessage(problem, language),
    help: translateSettingText(state.key, state.help, language),
  };
}

function plain(value: unknown): Plain {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
