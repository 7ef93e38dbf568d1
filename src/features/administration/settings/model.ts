import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { SETTING_GROUPS } from "../../../config/editable.ts";
import { PROOF_FIELDS } from "../../accounts/auth/model.ts";

const TextOrNone = t.Union([t.String(), t.Null()]);
const NumberOrNone = t.Union([t.Number(), t.Null()]);
const Value = t.Union([t.String(), t.Number(), t.Boolean(), t.Null()]);

/** PATCH /api/admin/settings */
export const SettingsBody = t.Object({
  values: t.Record(t.String({ maxLength: 100 }), Value, {
    description: "New values by key, as in larder.toml or as JSON; null removes the stored value",
    minProperties: 1,
    maxProperties: 100,
  }),
  ...PROOF_FIELDS,
});

/** A setting that administrators can change. */
const SettingRecord = t.Object({
  key: t.String({ examples: ["plans.free.quota"] }),
  group: t.String({ enum: [...SETTING_GROUPS] }),
  kind: t.String({ enum: ["toggle", "choice", "integer", "number", "size", "duration", "text", "list"] }),
  value: Type.Unsafe<string | number | boolean | null>({
    ...Value,
    description: "Sizes in bytes, durations in milliseconds; null for no limit or not set",
  }),
  text: t.String({ description: "The same as it is written in larder.toml" }),
  source: t.String({ examples: ["stored", "default", "LARDER_SIGNUP", "/srv/larder/larder.toml:3"] }),
  isStored: t.Boolean({ description: "Whether a value set with this API applies" }),
  isEditable: t.Boolean(),
  fixedBy: t.Union([t.String(), t.Null()], { description: "What sets it outside of this API, and has precedence" }),
  default: Type.Unsafe<string | number | boolean | null>({ ...Value, description: "Without a stored value" }),
  defaultText: t.String(),
  min: NumberOrNone,
  max: NumberOrNone,
  unit: t.Union([t.String({ enum: ["bytes", "ms"] }), t.Null()]),
  choices: t.Union([t.Array(t.String()), t.Null()]),
  noneWord: t.Union([t.String(), t.Null()], { description: 'The word for no value, such as "unlimited"' }),
  needsRestart: t.Boolean({ description: "false: a change applies at once" }),
  problem: t.Union([t.String(), t.Null()], { description: "Why the stored value is ignored" }),
  help: t.String({ description: "In the language of the reader" }),
});

/** GET /api/admin/settings */
export const SettingsRecord = t.Object({
  settings: t.Array(SettingRecord),
  mail: t.Object({
    isReady: t.Boolean({ description: "Whether email can be sent" }),
    hasPassword: t.Boolean({ description: "Whether a password is set, in larder.toml or a variable" }),
    problem: TextOrNone,
  }),
});

/** POST /api/admin/settings/mail/test */
export const TestMailRecord = t.Object({
  to: t.String(),
  result: t.String({ enum: ["sent", "rejected", "unreachable"] }),
});
