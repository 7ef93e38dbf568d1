import { Type } from "@sinclair/typebox";
import { t } from "elysia";

const pixels = (description: string, minimum: number) => Type.Integer({ minimum, maximum: 1_000_000, description });

/** POST /api/files/{id}/edit */
export const EditBody = t.Object(
  {
    rotate: t.Optional(t.Union([t.Literal(90), t.Literal(180), t.Literal(270)], { description: "Degrees clockwise." })),
    crop: t.Optional(
      t.Object(
        {
          x: pixels("Pixels left of the area", 0),
          y: pixels("Pixels above the area", 0),
          width: pixels("Width of the area in pixels", 1),
          height: pixels("Height of the area in pixels", 1),
        },
        { description: "The area to keep, in pixels of the image as it is displayed after the rotation." },
      ),
    ),
  },
  { $id: "PictureEdit" },
);
