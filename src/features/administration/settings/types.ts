import type { SettingGroup } from "../../../config/editable.ts";
import type { SettingShape } from "../../../config/setting.ts";
import type { Message } from "../../../translations/say.ts";

/** A setting that administrators can change, as it is now. */
export interface SettingState {
  readonly key: string;
  readonly group: SettingGroup;
  readonly shape: SettingShape;
  readonly unit: "" | "Ms" | "Bytes";
  readonly help: string;
  /** As written in larder.toml. */
  readonly text: string;
  readonly value: unknown;
  /** Without a stored value. */
  readonly fallbackText: string;
  readonly fallback: unknown;
  readonly source: string;
  readonly fixedBy: string | undefined;
  /** Why the stored value does not apply; undefined if it does, or if there is none. */
  readonly problem: Message | undefined;
}

/** A change of one setting, as written in larder.toml. */
export interface SettingChange {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}
