import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ResponseData } from "../api/generated.ts";
import { request } from "../api/http.ts";
import { keys } from "../api/queries.ts";
import { Avatar } from "./avatar.tsx";

/** Pictures change rarely. */
const FRESH_MS = 5 * 60_000;

/** Who has a picture that this user may see: so nothing is requested of people without one. */
const picturesQuery = queryOptions({
  queryKey: keys.avatars,
  queryFn: async ({ signal }) => {
    const path = "/api/users/avatars";
    const { people } = await request<ResponseData["GET /api/users/avatars"]>("GET", path, { signal });
    return new Map(people.map(({ id, version }) => [id, version]));
  },
  staleTime: FRESH_MS,
  retry: false,
});

/** The picture of any person, or the initials while it is not known. @param id `usr_…` */
export function PersonAvatar({
  id,
  name,
  size,
}: {
  readonly id: string;
  readonly name: string;
  readonly size?: number;
}) {
  const version = useQuery(picturesQuery).data?.get(id);
  return (
    <Avatar
      name={name}
      {...(size !== undefined && { size })}
      picture={version === undefined ? undefined : { id, version }}
    />
  );
}

/** Returns a function to look up whether a person is known to have a picture. */
export function useHasPicture(): (id: string) => boolean {
  const { data } = useQuery(picturesQuery);
  return (id) => data?.has(id) === true;
}

/** Returns a function to call after a picture was set or removed. */
export function useRefreshPictures(): () => void {
  const queryClient = useQueryClient();
  return () => void queryClient.invalidateQueries({ queryKey: keys.avatars });
}
