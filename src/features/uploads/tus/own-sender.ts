import { AppError } from "../../../errors.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import type { FileService } from "../../library/files/service.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import { nameTaken } from "../../../tree/tables/names.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say, size } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { TusSender } from "./types.ts";

/** Dependencies of {@link ownSender}. */
export interface OwnSenderOptions {
  readonly files: Pick<FileService, "finishUpload">;
  readonly permissions: Pick<Permissions, "location">;
  readonly tree: Pick<TreeReader, "findFileNamed">;
  readonly limitsOf: (user: User) => StorageLimits;
}

/** An account that uploads into its own tree, or into a received share that allows writing. */
export function ownSender({ files, permissions, tree, limitsOf }: OwnSenderOptions, uploader: Uploader): TusSender {
  const { user, confirm } = uploader;
  return {
    confirm,
    senderId: user.id,
    shareId: undefined,
    address: undefined,
    uploadsMax: undefined,
    isTrusted: true,
    admit: ({ fields, name }, { owner, folderPath }) => {
      const isTaken = fields.onConflict === "error" && tree.findFileNamed(owner.id, folderPath, name) !== undefined;
      if (isTaken) throw nameTaken(name);
    },
    // A part has no file name yet; the final upload has it.
    makesFile: (kind, { fields, name }, { owner, folderPath }) => {
      if (kind === "partial") return false;
      return fields.onConflict !== "version" || tree.findFileNamed(owner.id, folderPath, name) === undefined;
    },
    destination: ({ fields, share }) => {
      const { path, ...target } = permissions.location(user, fields.folderPath, share);
      const { maxFileSizeBytes: limitBytes, plan } = limitsOf(target.owner);
      const tooLarge = () =>
        new AppError(
          "file_too_large",
          say`A file can have at most ${size(limitBytes ?? 0)} on the ${plan} plan. Send a smaller file.`,
          { limit: limitBytes, plan },
        );
      return { ...target, folderPath: path, limitBytes, leftBytes: () => null, tooLarge };
    },
    createFile: async (pendingUpload, { name, mediaType, fields, share }, hooks) => {
      const { file } = await files.finishUpload(
        uploader,
        pendingUpload,
        { fileName: name, declaredType: mediaType },
        fields,
        { share, ...hooks },
      );
      return file;
    },
    explain: (error) => error,
  };
}
