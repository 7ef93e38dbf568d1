import { defineText } from "../../base/text.ts";

/** The text of the page of places. */
export const text = defineText("places", {
  title: "Places",
  allPhotos: "All photos",
  loading: "Loading",
  emptyTitle: "No places yet",
  emptyHint: "Photos with a location appear here, grouped by the nearest town.",
  elsewhere: "Elsewhere",
  elsewhereHint: "Far from any town",
  count: "{n, plural, one {# item} other {# items}}",
  map: "Map of your photos",
  mapHint: "The list below shows the same places.",
  together: "{n, plural, one {# place} other {# places}}",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Show all places",
  credit: "Town names: GeoNames, CC BY 4.0; outlines: Natural Earth",
});
