/** The places where photos were taken: for their own page, and for the photos of one of them. */
import { queryOptions } from "@tanstack/react-query";
import type { ResponseData } from "./generated.ts";
import { request } from "./http.ts";
import { keys, LIVE_INTERVAL_MS } from "./queries.ts";

type Places = ResponseData["GET /api/photos/places"];

/** A town with photos, or everything far from all towns. */
export type PlaceRecord = Places["places"][number];

const SETTLING_INTERVAL_MS = 3000;

/** All places of the account, most photos first. */
export const placesQuery = queryOptions({
  queryKey: [...keys.photos, "places"],
  queryFn: ({ signal }) => request<Places>("GET", "/api/photos/places", { signal }),
  refetchInterval: ({ state }) => (state.data?.isSettling === true ? SETTLING_INTERVAL_MS : LIVE_INTERVAL_MS),
});
