import { useQuery } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import { BookImage } from "lucide-react";
import { live } from "../../api/queries.ts";
import { Thumbnail } from "../../entries/collection/thumbnail.tsx";
import { type ReceivedShare, receivedQuery } from "../../entries/sharing/api.ts";
import { text as sharingText } from "../../entries/sharing/text.ts";
import { Card, Strip } from "./strips.tsx";
import { text } from "./text.ts";

/** More of them are on the page "Shared with me". */
const SHOWN_MAX = 12;

/**
 * What others share with the account, the newest first: undefined until it is loaded.
 * @param isEnabled false to request nothing
 */
export function useReceivedShares(isEnabled: boolean): readonly ReceivedShare[] | undefined {
  const { data, isError } = useQuery({ ...receivedQuery, ...live, enabled: isEnabled });
  // Home is complete without it, and its own page shows the error.
  return data ?? (isError ? [] : undefined);
}

/** The newest items that others share, in a row. */
export function ReceivedStrip({ shares }: { readonly shares: readonly ReceivedShare[] }) {
  if (shares.length === 0) return null;
  return (
    <Strip title={text.sharedWithMe} all={{ to: "/shared/with-me", label: text.allShared }}>
      {shares.slice(0, SHOWN_MAX).map((share) => {
        const name = (share.file ?? share.folder ?? share.album)?.name ?? "";
        const detail = sharingText.sharedBy({ name: share.owner.name || share.owner.email });
        return <Card key={share.id} name={name} detail={detail} icon={<Icon share={share} />} link={linkTo(share)} />;
      })}
    </Strip>
  );
}

function Icon({ share: { file, folder } }: { readonly share: ReceivedShare }) {
  const entry = file ?? folder;
  if (entry !== undefined) return <Thumbnail entry={entry} size="small" />;
  return <BookImage aria-hidden className="size-6 shrink-0 text-muted" />;
}

function linkTo({ id, file, album }: ReceivedShare): Pick<LinkProps, "to" | "params" | "search"> {
  if (album !== undefined) return { to: "/albums/$albumId", params: { albumId: album.id } };
  return { to: "/shared/with-me", search: file === undefined ? { share: id } : { view: file.id } };
}
