import { useInfiniteQuery } from "@tanstack/react-query";
import type { Entry } from "../../api/types.ts";
import { formatDateTime, formatRelative } from "../../base/format.ts";
import { PagedList } from "../../ui/paged-list.tsx";
import { PersonAvatar } from "../../ui/person-avatar.tsx";
import { type Activity, activityQuery } from "./api.ts";
import { text } from "./text.ts";

/** The activity of an entry, newest first. */
export function ActivityTab({ entry }: { readonly entry: Entry }) {
  const query = useInfiniteQuery(activityQuery(entry.id));
  const activity = query.data?.pages.flatMap((page) => page.activity) ?? [];
  return (
    <PagedList
      query={query}
      isEmpty={activity.length === 0}
      empty={<p className="text-sm text-muted">{text.noActivity}</p>}
    >
      <ol aria-label={text.activity} className="flex flex-col gap-3">
        {activity.map((one, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- two downloads may have the same instant
          <li key={`${one.at} ${one.kind} ${index}`} className="border-s-2 border-line ps-3 text-sm">
            <p className="break-words">{describe(one)}</p>
            <p className="text-muted">
              <ActorPicture by={one.by} />
              {whoDid(one)}
              <time dateTime={one.at} title={formatDateTime(one.at)}>
                {formatRelative(one.at)}
              </time>
            </p>
          </li>
        ))}
      </ol>
    </PagedList>
  );
}

function ActorPicture({ by }: Pick<Activity, "by">) {
  if (by === null || by.name === "") return null;
  return (
    <span className="me-1.5 inline-flex align-middle">
      <PersonAvatar id={by.id} name={by.name} size={18} />
    </span>
  );
}

/** Who did it and with which device. Empty if unknown, for example for moves. */
function whoDid({ by, device }: Activity): string {
  const person = by?.name ?? "";
  if (device === null) return person === "" ? "" : `${person}, `;
  return `${person === "" ? device.name : text.onDevice({ person, device: device.name })}, `;
}

function describe({ kind, from, to, version, share }: Activity): string {
  switch (kind) {
    case "created":
      return text.wasCreated;
    case "content":
      return version === undefined ? text.contentChanged : text.contentChangedTo({ version });
    case "renamed":
      return text.renamed({ from: from?.name ?? "", to: to?.name ?? "" });
    case "moved":
      return text.moved({ from: from?.folder ?? text.deletedFolder, to: to?.folder ?? text.deletedFolder });
    case "trashed":
      return text.trashed;
    case "restored":
      return text.restored;
    case "shared":
      return describeShare(share);
    case "version_deleted":
      return version === undefined ? text.versionDeleted : text.versionNumberDeleted({ version });
    case "downloaded":
      return text.downloaded;
  }
}

function describeShare(share: Activity["share"]): string {
  if (share === "public") return text.sharedPublic;
  if (share === "upload") return text.sharedUpload;
  return share === "account" ? text.sharedAccount : share === "link" ? text.sharedLink : text.shared;
}
