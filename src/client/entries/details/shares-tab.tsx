import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Share2 } from "../../ui/icons.ts";
import { Suspense, useState } from "react";
import { folderParam } from "../folder-address.ts";
import { describeShares } from "../share-marks.ts";
import type { Entry } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { coveringFoldersQuery, sharesOfQuery } from "../sharing/api.ts";
import { ShareItem } from "../sharing/share-item.tsx";
import { text } from "./text.ts";
import { LoadedList } from "../../ui/loaded.tsx";
import { useCanWrite } from "../../api/session.ts";

const ShareDialog = lazyPart(() => import("../sharing/share-dialog.tsx").then((part) => part.ShareDialog));

/** The links and shares of an entry. */
export function SharesTab({ entry }: { readonly entry: Entry }) {
  const [isSharing, setIsSharing] = useState(false);
  const shares = useQuery(sharesOfQuery(entry));
  const canWrite = useCanWrite();
  return (
    <div className="flex flex-col gap-4">
      {canWrite && (
        <Button icon={Share2} className="self-start" onClick={() => setIsSharing(true)}>
          {text.changeShares}
        </Button>
      )}
      <LoadedList
        query={shares}
        empty={
          <p className="text-sm text-muted">
            <strong className="block font-medium text-ink">{text.noShares}</strong>
            {text.noSharesHint}
          </p>
        }
      >
        {(items) => (
          <ul aria-label={text.shares} className="divide-y divide-line">
            {items.map((share) => (
              <li key={share.id} className="py-4 first:pt-0">
                <ShareItem share={share} name={entry.name} />
              </li>
            ))}
          </ul>
        )}
      </LoadedList>
      <CoveringFolders entry={entry} />
      <Suspense fallback={null}>
        {isSharing && <ShareDialog entry={entry} onClose={() => setIsSharing(false)} />}
      </Suspense>
    </div>
  );
}

/** The shared folders above an entry: their shares cover it too. */
function CoveringFolders({ entry }: { readonly entry: Entry }) {
  const { data: folders = [] } = useQuery(coveringFoldersQuery(entry));
  if (folders.length === 0) return null;
  return (
    <section aria-label={text.sharedThrough}>
      <h3 className="text-sm font-medium">{text.sharedThrough}</h3>
      <ul className="mt-1 flex flex-col">
        {folders.map(({ id, name, path, ...shared }) => (
          <li key={id} className="text-sm">
            <Link
              to={path === "/" ? "/files" : "/files/$"}
              params={{ _splat: folderParam(path) }}
              className="reach inline-flex min-h-6 items-center text-accent hover:underline"
            >
              <bdi>{name}</bdi>
            </Link>{" "}
            <span className="text-muted">{describeShares({ shared })}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
