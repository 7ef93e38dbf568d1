import { parseChecksum } from "../../../blobs/digest.ts";
import { invalidField, notFound } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams, readBoolean, queryOf } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { FILES_MAX, DurabilityBody } from "./model.ts";
import { presentDurability, presentOutcome } from "./present.ts";
import type { DurabilityService } from "./service.ts";
import type { RequestedFile } from "./types.ts";

/** Options of {@link durabilityRoutes}. */
export interface DurabilityRoutesOptions {
  readonly durability: DurabilityService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Removes the time limit of a request. */
  readonly allowLong: (request: Request) => void;
}

/** Reports whether a device can delete its own copy of a file. */
export function durabilityRoutes({ durability, guard, allowLong }: DurabilityRoutesOptions) {
  return new Router({ prefix: "/api/mobile/files", guard })
    .get(
      "/:id/durability",
      {
        access: "device",
        scope: "device",
        rate: "general",
        audit: "unaudited",
        docs: docs.get,
        params: IdParams,
        acknowledges: true,
      },
      async ({ principal, params, request }) => {
        const query = queryOf(request);
        const verify = readBoolean(query["verify"], "verify") ?? false;
        const { checksum } = query;
        const file = { fileId: params.id, digest: checksum === undefined ? undefined : parseChecksum(checksum) };
        if (verify) allowLong(request);
        const [outcome] = await durability.check(principal.user, [file], { verify, signal: request.signal });
        if (outcome === undefined || "error" in outcome) throw outcome?.error ?? notFound(say`The file was not found.`);
        return ok(presentDurability(outcome.durability));
      },
    )
    .post(
      "/durability",
      {
        access: "device",
        scope: "device",
        rate: "general",
        audit: "unaudited",
        docs: docs.check,
        body: DurabilityBody,
      },
      async ({ principal, body, request }) => {
        const { verify = false } = body;
        if (verify) allowLong(request);
        const outcomes = await durability.check(principal.user, readFiles(body), { verify, signal: request.signal });
        return ok({ files: outcomes.map((outcome) => presentOutcome(outcome, request)) });
      },
    );
}

/** @throws AppError invalid_field */
function readFiles(body: typeof DurabilityBody.static): RequestedFile[] {
  const { fileIds = [], files = [] } = body;
  if (body.fileIds === undefined && body.files === undefined) {
    throw invalidField("fileIds", say`The request names no files. Send fileIds or files.`);
  }
  const requested: RequestedFile[] = [
    ...fileIds.map((fileId) => ({ fileId })),
    ...files.map(({ fileId, checksum }) => ({
      fileId,
      digest: checksum === undefined ? undefined : parseChecksum(checksum),
    })),
  ];
  if (requested.length > FILES_MAX)
    throw invalidField("files", say`A request can name at most ${FILES_MAX} files. Send the rest in another request.`);
  return requested;
}
