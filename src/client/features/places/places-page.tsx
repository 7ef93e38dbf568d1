import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { MapPin } from "lucide-react";
import { Suspense } from "react";
import { type PlaceRecord, placesQuery } from "../../api/places.ts";
import { buttonClassName } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { PlaceList } from "./place-list.tsx";
import { text } from "./text.ts";

const PlaceMap = lazyPart(() => import("./place-map.tsx").then((part) => part.PlaceMap));

/** The towns where photos were taken, on a map and in a list. */
export function PlacesPage() {
  const navigate = useNavigate();
  const open = (place: PlaceRecord) => void navigate({ to: "/photos", search: { place: place.id } });
  return (
    <Page
      title={text.title}
      wide
      actions={
        <Link to="/photos" className={buttonClassName({})}>
          {text.allPhotos}
        </Link>
      }
    >
      <Loaded query={useQuery(placesQuery)}>
        {({ places, isSettling }) =>
          places.length > 0 ? (
            <>
              <Suspense fallback={<div className="h-72 rounded-xl bg-sunken sm:h-96" />}>
                <PlaceMap places={places} nameOf={nameOf} onOpen={open} />
              </Suspense>
              <PlaceList places={places} nameOf={nameOf} />
              <p className="mt-8 text-xs text-muted">{text.credit}</p>
            </>
          ) : isSettling ? (
            <div className="flex justify-center py-24 text-muted">
              <Spinner size={28} label={text.loading} />
            </div>
          ) : (
            <EmptyState icon={MapPin} title={text.emptyTitle}>
              {text.emptyHint}
            </EmptyState>
          )
        }
      </Loaded>
    </Page>
  );
}

function nameOf({ country, name }: PlaceRecord): string {
  return country === null ? text.elsewhere : name;
}
