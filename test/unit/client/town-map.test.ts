import { expect, test } from "bun:test";
import { fitView, project } from "../../../src/client/features/places/projection.ts";

test.each([
  [358, 288],
  [1054, 384],
  [1900, 384],
])(
  "the view of %i × %i pixels shows all places next to the zoom buttons, also far apart from north to south",
  (width, height) => {
    // Iceland, Cape Town, New York, Kyoto, Sydney.
    const points = [project(64, -22), project(-34, 18), project(41, -74), project(35, 136), project(-34, 151)];
    const view = fitView(points, width, height);
    for (const { x, y } of points) {
      expect(Math.abs(x - view.x) * view.scale).toBeLessThanOrEqual(width / 2 - 70);
      expect(Math.abs(y - view.y) * view.scale).toBeLessThanOrEqual(height / 2 - 20);
    }
  },
);
