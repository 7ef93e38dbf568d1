import { useQuery } from "@tanstack/react-query";
import { Share2 } from "../../ui/icons.ts";
import { Suspense, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { sharesOfQuery } from "../sharing/api.ts";
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
      <Suspense fallback={null}>
        {isSharing && <ShareDialog entry={entry} onClose={() => setIsSharing(false)} />}
      </Suspense>
    </div>
  );
}
