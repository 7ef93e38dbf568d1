import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MapPin } from "lucide-react";
import { placesQuery } from "../../api/places.ts";
import { buttonClassName } from "../../ui/button.tsx";
import { text } from "./text.ts";

/** The name of a place by its id; undefined until it is known. */
export function usePlaceName(id: string | undefined): string | undefined {
  const { data } = useQuery({ ...placesQuery, enabled: id !== undefined });
  if (id === undefined || data === undefined) return undefined;
  const name = data.places.find((place) => place.id === id)?.name ?? "";
  return name === "" ? text.elsewhere : name;
}

/** A link to the page of places. */
export function PlacesLink() {
  return (
    <Link to="/photos/places" className={buttonClassName({})}>
      <MapPin aria-hidden size={18} className="shrink-0 max-sm:hidden" />
      {text.places}
    </Link>
  );
}
