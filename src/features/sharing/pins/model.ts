import { t } from "elysia";
import { FolderPath } from "../../../http/fields.ts";

/** PUT /api/pins/{id} */
export const PinBody = t.Object({
  before: t.Optional(t.String({ description: "Id of the pin before which it is shown; by default it is the last" })),
});

/** A pinned folder or album. */
export const PinRecord = t.Object({
  id: t.String(),
  type: t.Union([t.Literal("folder"), t.Literal("album")]),
  name: t.String(),
  path: t.Optional(FolderPath),
  share: t.Optional(t.String({ description: "Of a received folder: id of the share to which its path is relative" })),
  owner: t.Union([t.Object({ id: t.String(), name: t.String(), email: t.String() }), t.Null()], {
    description: "Who shares it; null if it is yours",
  }),
});

/** The pins of an account. */
export const PinsRecord = t.Object({ pins: t.Array(PinRecord) });
