import type { Config } from "../../config/settings.ts";
import type { Router } from "../accounts/routing/router.ts";
import type { UserService } from "../accounts/users/service.ts";
import type { AuthService } from "../accounts/auth/service.ts";
import type { AlbumService } from "../library/albums/service.ts";
import type { ArchiveSender } from "../library/archive/archive-sender.ts";
import type { ArchiveService } from "../library/archive/service.ts";
import type { FavoriteService } from "../library/favorites/service.ts";
import { avatarAdminRoutes, avatarRoutes } from "./avatars/routes.ts";
import type { AvatarService } from "./avatars/service.ts";
import { type PinRoutesOptions, pinRoutes } from "./pins/routes.ts";
import type { ReceivedShareService } from "./received/service.ts";
import { receivedShareRoutes } from "./received/routes.ts";
import { ShareDownloads } from "./shares/share-requests.ts";
import { type SharePageRoutesOptions, sharePageRejection, sharePageRoutes } from "./shares/page-routes.ts";
import { sharePictureRoutes } from "./shares/picture-routes.ts";
import { type PublicRoutesOptions, publicRoutes } from "./shares/routes.ts";
import { nodeShareRoutes, type ShareRoutesOptions, shareRoutes } from "./shares/share-routes.ts";

/** Dependencies of the routes of shares. */
interface SharingRoutesOptions
  extends ShareRoutesOptions,
    Omit<PublicRoutesOptions, "albums" | "guesses" | "sender" | "downloads" | "statistics"> {
  readonly config: Pick<Config, "basePath">;
  readonly auth: AuthService;
  readonly users: SharePageRoutesOptions["users"] & Pick<UserService, "findByPublicId">;
  readonly avatars: AvatarService;
  readonly albums: AlbumService;
  readonly archives: ArchiveService;
  readonly archiveSender: ArchiveSender;
  readonly receivedShares: ReceivedShareService;
  readonly pins: PinRoutesOptions["pins"];
  readonly linkGuesses: PublicRoutesOptions["guesses"];
  readonly favorites: FavoriteService;
  readonly shareSender: PublicRoutesOptions["sender"];
  readonly shareStatistics: PublicRoutesOptions["statistics"];
  /** Scripts that the pages of links load. */
  readonly scripts: SharePageRoutesOptions["scripts"];
}

/** Links and their pages, drop boxes, and shares between accounts. */
export function sharingRoutes(options: SharingRoutesOptions): Router[] {
  const { config, scripts, linkGuesses, shareSender, shareStatistics, receivedShares } = options;
  const { basePath } = config;
  const links = { ...options, basePath, guesses: linkGuesses, sender: shareSender, statistics: shareStatistics };
  const downloads = new ShareDownloads({ ...links, renderRejection: sharePageRejection({ basePath, scripts }) });
  return [
    receivedShareRoutes({ ...options, received: receivedShares }),
    publicRoutes({ ...links, downloads }),
    sharePageRoutes({ ...links, downloads }),
    sharePictureRoutes(links),
    nodeShareRoutes(options),
    shareRoutes(options),
    pinRoutes(options),
    avatarRoutes(options),
    avatarAdminRoutes(options),
  ];
}
