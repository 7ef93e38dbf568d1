/** The picture of the preview of a link, and that of the person who shares it. */
import { t } from "elysia";
import { notFound } from "../../../errors.ts";
import { queryOf } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { PAGE_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { UserService } from "../../accounts/users/service.ts";
import { sendAvatar } from "../avatars/avatar-sender.ts";
import type { AvatarService } from "../avatars/service.ts";
import { previewedFile } from "./link-preview.ts";
import type { ShareAccess } from "./share-access.ts";
import { linkRequestOf } from "./share-requests.ts";
import { SHARE_HEADERS, type ShareSender } from "./share-sender.ts";
import { sharerName } from "./shown-name.ts";

/** Dependencies of {@link sharePictureRoutes}. */
interface SharePictureRoutesOptions {
  readonly shareAccess: ShareAccess;
  readonly sender: Pick<ShareSender, "sendPicture">;
  readonly avatars: Pick<AvatarService, "read">;
  readonly users: Pick<UserService, "settingsJson">;
  readonly guard: ReturnType<typeof authGuard>;
}

const ROUTE = { ...PAGE_ROUTE, rate: "general", params: t.Object({ token: t.String() }) } as const;

/** /s/{token}/picture and /s/{token}/sharer */
export function sharePictureRoutes({ shareAccess, sender, avatars, users, guard }: SharePictureRoutesOptions) {
  return new Router({ guard })
    .get("/s/:token/picture", ROUTE, async ({ params, request, set }) => {
      const opened = shareAccess.open(linkRequestOf(request, params.token, "describe"));
      const file = previewedFile(shareAccess, opened, queryOf(request)["fileId"] || undefined);
      return sender.sendPicture(opened, file, { request, set });
    })
    .get("/s/:token/sharer", ROUTE, ({ params, request, set }) => {
      const { owner } = shareAccess.open(linkRequestOf(request, params.token, "describe"));
      const isShown = sharerName(owner, users.settingsJson(owner.id)) !== undefined;
      const avatar = isShown ? avatars.read(owner.id, SIZE) : undefined;
      if (avatar === undefined) throw notFound(say`This picture was not found.`);
      // Never immutable: the share may end, and the person may hide the name.
      const common = { isImmutable: false, commonHeaders: set.headers, extraHeaders: SHARE_HEADERS };
      return sendAvatar({ request, avatar, size: SIZE, ...common });
    });
}

/** Sharp enough for the size on the page. */
const SIZE = "64";
