import { defineText, plural } from "../../base/text.ts";

/** The text of the page of places. */
export const text = defineText("places", {
  title: "Places",
  allPhotos: "All photos",
  loading: "Loading",
  emptyTitle: "No places yet",
  emptyHint: "Photos that know where they were taken appear here, grouped by the nearest town.",
  elsewhere: "Elsewhere",
  elsewhereHint: "Far from all towns",
  count: (n: number) => plural(n, "# item", "# items"),
  map: "Map of your photos",
  mapHint: "The list has the same places.",
  together: (n: number) => plural(n, "# place", "# places"),
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Show all places",
  credit: "Town names: GeoNames, CC BY 4.0; outlines: Natural Earth",
});
