/** The picture of the preview of a link. */
import { t } from "elysia";
import { queryOf } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { PAGE_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { previewedFile } from "./link-preview.ts";
import type { ShareAccess } from "./share-access.ts";
import { linkRequestOf } from "./share-requests.ts";
import type { ShareSender } from "./share-sender.ts";

/** Dependencies of {@link sharePictureRoutes}. */
interface SharePictureRoutesOptions {
  readonly shareAccess: ShareAccess;
  readonly sender: Pick<ShareSender, "sendPicture">;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /s/{token}/picture */
export function sharePictureRoutes({ shareAccess, sender, guard }: SharePictureRoutesOptions) {
  return new Router({ guard }).get(
    "/s/:token/picture",
    { ...PAGE_ROUTE, rate: "general", params: t.Object({ token: t.String() }) },
    async ({ params, request, set }) => {
      const opened = shareAccess.open(linkRequestOf(request, params.token, "describe"));
      const file = previewedFile(shareAccess, opened, queryOf(request)["fileId"] || undefined);
      return sender.sendPicture(opened, file, { request, set });
    },
  );
}
