import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";

const HOLD = {
  holdId: t.String(),
  deviceId: t.String({ description: "The device whose changes wait" }),
  changes: Type.Integer({ minimum: 0, description: "Held deletions and replacements" }),
  since: Timestamp,
  expiresAt: Timestamp,
};

/** GET …/holds */
export const HoldsRecord = t.Object({ holds: t.Array(t.Object(HOLD)) });

/** POST …/holds/{holdId} */
export const DecideBody = t.Object({
  accept: t.Boolean({ description: "true: apply the changes; false: discard them" }),
});

/** Response of a decision. */
export const DecisionRecord = t.Object({
  ...HOLD,
  decision: t.Union([t.Literal("accepted"), t.Literal("declined")]),
});

/** Path parameters of a device's holds. */
export const DeviceParams = t.Object({ deviceId: t.String({ description: "As the device chose it" }) });

/** Path parameters of one hold of a device. */
export const DeviceHoldParams = t.Object({ deviceId: t.String(), holdId: t.String() });

/** Path parameters of one hold. */
export const HoldParams = t.Object({ holdId: t.String() });
