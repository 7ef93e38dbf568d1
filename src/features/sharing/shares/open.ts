/** Builds the services of shares, in order of dependency. */
import type { Database } from "bun:sqlite";
import type { Reader } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { PasswordHasher } from "../../accounts/users/passwords.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import type { RateLimiter } from "../../accounts/rate-limits/limiter.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { PeopleService } from "../../accounts/people/service.ts";
import { GroupNotices } from "./group-notices.ts";
import { PeopleShares } from "./people-shares.ts";
import { type StrippedPhotosOptions, StrippedPhotos } from "./stripped-photos.ts";
import { ShareAccess } from "./share-access.ts";
import { PasswordGrants } from "./password-grants.ts";
import { LinkGuesses } from "./guesses.ts";
import type { PublicLinks } from "./file-links.ts";
import { ShareRows } from "./queries.ts";
import { ShareService } from "./service.ts";
import { ShareTargets } from "./targets.ts";
import { ShareStatistics } from "./statistics.ts";
import { reissueTokens, ShareTokens } from "./tokens.ts";

/** Dependencies of shares. */
interface SharesOptions {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly users: UserService;
  readonly people: PeopleService;
  readonly passwords: PasswordHasher;
  readonly permissions: Permissions;
  readonly albums: AlbumService;
  readonly limiter: RateLimiter;
  readonly links: PublicLinks;
  readonly blobs: StrippedPhotosOptions["blobs"];
  readonly derived: StrippedPhotosOptions["derived"];
  /** The link key. */
  readonly secret: Uint8Array;
}

/** All services of shares, except the HTTP side. */
export function openShares(options: SharesOptions) {
  const { sqlite, secret, writer, clock, log, events, tree, albums, users, passwords } = options;
  const rows = new ShareRows(sqlite);
  const tokens = new ShareTokens(secret);
  const reissued = reissueTokens(sqlite, tokens);
  if (reissued > 0)
    log.warn("The link key was replaced; all public links and drop boxes have new addresses.", { shares: reissued });
  const statistics = new ShareStatistics({ rows, writer, events, clock, log });
  const targets = new ShareTargets(tree, albums);
  const notices = new GroupNotices({ ...options, rows, targets });
  const findByEmail = (key: string) => {
    const found = users.findByEmail(key);
    return found?.isEmailUnconfirmed === true ? undefined : found;
  };
  const peopleShares = new PeopleShares({ ...options, rows, tokens, notices, findByEmail });
  const shares = new ShareService({ ...options, rows, tokens, statistics, targets, peopleShares });
  const shareAccess = new ShareAccess({
    rows,
    grants: new PasswordGrants(secret),
    statistics,
    tree,
    targets,
    albums,
    users,
    passwords,
    clock,
  });
  const guesses = new LinkGuesses({ ...options, rows });
  return {
    rows,
    statistics,
    shares,
    notices,
    shareAccess,
    targets,
    guesses,
    strippedPhotos: new StrippedPhotos(options),
  };
}
