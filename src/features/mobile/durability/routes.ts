import { Elysia } from "elysia";
import { parseChecksum } from "../../../blobs/digest.ts";
import { invalidField, notFound } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readBoolean, readQuery } from "../../../http/fields.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { ASKED_MAX, DurabilityBody, DurabilityListRecord, DurabilityRecord } from "./model.ts";
import { presentDurability, presentOutcome } from "./present.ts";
import type { DurabilityService } from "./service.ts";
import type { AskedFile } from "./types.ts";

/** What the routes about durability work with. */
export interface DurabilityRoutesOptions {
  readonly durability: DurabilityService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

/** What a phone may rely on before it frees its own copy (D26). */
export function durabilityRoutes({ durability, guard, allowLong }: DurabilityRoutesOptions) {
  return new Elysia({ name: "durability-routes", prefix: "/api/mobile/files" })
    .use(guard)
    .get(
      "/:id/durability",
      async ({ principal, params, request }) => {
        const query = readQuery(requestContextOf(request).query);
        const verify = readBoolean(query["verify"], "verify") ?? false;
        const { checksum } = query;
        const asked = { fileId: params.id, digest: checksum === undefined ? undefined : parseChecksum(checksum) };
        if (verify) allowLong(request);
        const [outcome] = await durability.check(principal.user, [asked], { verify, signal: request.signal });
        if (outcome === undefined || "error" in outcome) throw outcome?.error ?? notFound("The file");
        return ok(presentDurability(outcome.durability));
      },
      {
        access: "device",
        params: IdParams,
        ...documented({
          tag: "Mobile",
          summary: "What a device may rely on before it frees its own copy of a file",
          description:
            "stored: the bytes lie on disk. verifiedAt: when they were last read again and found whole (verify reads them " +
            "now). snapshotAt: the newest copy of the database that has the file with this content.",
          access: "device",
          query: {
            verify: { type: "boolean", description: "Read the content again first" },
            checksum: { type: "string", description: "The bytes that the device has; answered by matches" },
          },
          data: DurabilityRecord,
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .post(
      "/durability",
      async ({ principal, body, request }) => {
        const { verify = false } = body;
        if (verify) allowLong(request);
        const outcomes = await durability.check(principal.user, readAsked(body), { verify, signal: request.signal });
        return ok({ files: outcomes.map(presentOutcome) });
      },
      {
        ...takesJson("device", DurabilityBody),
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "The same for many files",
          description:
            "fileIds, then files, in the order given. With verify, contents are read while their sum is within 1 GiB (one " +
            "larger by itself is read, too); for the others verified is false, with a reason: ask again for these.",
          access: "device",
          data: DurabilityListRecord,
        }),
      },
    );
}

/** @throws AppError invalid_field */
function readAsked(body: typeof DurabilityBody.static): AskedFile[] {
  const { fileIds = [], files = [] } = body;
  if (body.fileIds === undefined && body.files === undefined) {
    throw invalidField("fileIds", "Name the files: give fileIds, or files.");
  }
  const asked: AskedFile[] = [
    ...fileIds.map((fileId) => ({ fileId })),
    ...files.map(({ fileId, checksum }) => ({
      fileId,
      digest: checksum === undefined ? undefined : parseChecksum(checksum),
    })),
  ];
  if (asked.length > ASKED_MAX) throw invalidField("files", `Ask about ${ASKED_MAX} files at most in one call.`);
  return asked;
}
