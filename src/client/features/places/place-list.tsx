import { Link } from "@tanstack/react-router";
import { apiAddress } from "../../api/http.ts";
import type { PlaceRecord } from "../../api/places.ts";
import { locale } from "../../base/format.ts";
import { Image as ImageIcon } from "../../ui/icons.ts";
import { usePicture } from "../../ui/use-picture.ts";
import { text } from "./text.ts";

/** Places of one country. */
export interface CountryPlaces {
  /** Empty for places in no country. */
  readonly country: string;
  readonly places: readonly PlaceRecord[];
}

/** Groups places by country, most photos first. */
export function groupByCountry(places: readonly PlaceRecord[]): CountryPlaces[] {
  const total = (list: readonly PlaceRecord[]) => list.reduce((sum, { count }) => sum + count, 0);
  return [...Map.groupBy(places, ({ country }) => country ?? "")]
    .map(([country, list]) => ({ country, places: list }))
    .toSorted((a, b) => Number(a.country === "") - Number(b.country === "") || total(b.places) - total(a.places));
}

/** The places with a picture each, by country. Countries with few places share a row. */
export function PlaceList({
  places,
  nameOf,
}: {
  readonly places: readonly PlaceRecord[];
  readonly nameOf: (place: PlaceRecord) => string;
}) {
  const countries = new Intl.DisplayNames([locale()], { type: "region" });
  return (
    <div className="mt-6 flex flex-wrap gap-x-6 gap-y-6">
      {groupByCountry(places).map(({ country, places: inCountry }) => (
        <section key={country} className="max-w-full">
          <h2 className="mb-2 text-lg font-semibold">
            {country === "" ? text.elsewhere : (countries.of(country) ?? country)}
          </h2>
          <ul className="flex flex-wrap gap-3">
            {inCountry.map((place) => (
              <li key={place.id} className="w-40 sm:w-44">
                <PlaceCard place={place} name={nameOf(place)} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function PlaceCard({ place, name }: { readonly place: PlaceRecord; readonly name: string }) {
  const isElsewhere = place.country === null;
  const region = place.region === place.name ? null : place.region;
  return (
    <Link
      to="/photos"
      search={{ place: place.id }}
      className="group block rounded-xl text-ink no-underline focus-visible:outline-offset-4"
    >
      <Cover place={place} />
      <span className="mt-1.5 block truncate font-medium group-hover:underline">
        {isElsewhere ? text.elsewhereHint : name}
      </span>
      <span className="block truncate text-sm text-muted">
        {[text.count({ n: place.count }), ...(region === null ? [] : [region])].join(" · ")}
      </span>
    </Link>
  );
}

function Cover({ place }: { readonly place: PlaceRecord }) {
  const { src, hasFailed, onError } = usePicture(
    apiAddress(`/api/files/${place.coverFileId}/download`, { thumbnail: "medium" }),
  );
  return (
    <span className="flex aspect-4/3 w-full items-center justify-center overflow-hidden rounded-xl bg-sunken text-muted">
      {place.hasCover && !hasFailed ? (
        <img src={src} alt="" loading="lazy" decoding="async" onError={onError} className="size-full object-cover" />
      ) : (
        <ImageIcon aria-hidden size={28} strokeWidth={1.5} />
      )}
    </span>
  );
}
