/** Opens shares between accounts, public links, and drop boxes. */
import { DownloadLedger } from "../../features/accounts/rate-limits/download-ledger.ts";
import { AvatarService } from "../../features/sharing/avatars/service.ts";
import { PinService } from "../../features/sharing/pins/service.ts";
import { ReceivedShareService } from "../../features/sharing/received/service.ts";
import { ShareSender } from "../../features/sharing/shares/share-sender.ts";
import { openShares } from "../../features/sharing/shares/open.ts";
import { DropBox } from "../../features/sharing/shares/drop-box-form.ts";
import type { FileNode } from "../../tree/model/types.ts";
import type { Accounts } from "./open-accounts.ts";
import type { Library } from "./open-library.ts";
import type { Media } from "./open-media.ts";
import type { Storage } from "./open-storage.ts";

/**
 * Builds sharing, in order of dependency.
 * @param onCounted called for each download that counts
 */
export function openSharing(
  storage: Storage,
  accounts: Accounts,
  media: Media,
  library: Library,
  onCounted: (file: FileNode) => void,
) {
  const { clock, secrets, endedShares } = storage;
  const { limitsOf, rateGate } = accounts;
  const opened = openShares({ ...storage, ...accounts, ...library, secret: secrets.link.secret });
  const { notices, shares, shareAccess, statistics, targets, guesses, rows, strippedPhotos } = opened;
  return {
    receivedShares: new ReceivedShareService({
      ...storage,
      ...accounts,
      albums: library.albums,
      targets,
      noteEnded: () => endedShares.note(),
    }),
    avatars: new AvatarService({ ...storage, people: accounts.people, editProcess: media.editProcess }),
    pins: new PinService({ ...storage, ...accounts, ...library }),
    shares,
    groupNotices: notices,
    shareAccess,
    shareStatistics: statistics,
    linkGuesses: guesses,
    strippedPhotos,
    shareSender: new ShareSender({
      ...storage,
      ...library,
      shareAccess,
      statistics,
      strippedPhotos,
      thumbnails: media.thumbnailer,
      downloads: new DownloadLedger(),
      rateGate,
      onCounted,
    }),
    dropBox: new DropBox({ shareAccess, rows, files: library.files, limitsOf, clock }),
  };
}
