import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { albumsOfFileQuery } from "../albums/api.ts";
import { ErrorMessage } from "../../ui/error-message.tsx";
import { text } from "./text.ts";

/** Links to the albums that a file is in. Nothing for a file that is in none. */
export function AlbumLinks({ id }: { readonly id: string }) {
  const { data: albums = [], error } = useQuery(albumsOfFileQuery(id));
  if (error !== null) return <ErrorMessage error={error} />;
  if (albums.length === 0) return null;
  return (
    <section aria-label={text.inAlbums} className="flex flex-col gap-1">
      <h3 className="text-sm font-medium">{text.inAlbums}</h3>
      <ul className="flex flex-col">
        {albums.map((album) => (
          <li key={album.id} className="min-w-0">
            <Link
              to="/albums/$albumId"
              params={{ albumId: album.id }}
              className="reach inline-flex min-h-6 max-w-full items-center text-sm text-accent hover:underline"
            >
              <bdi className="truncate">{album.name}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
