import { toChecksum } from "../../../blobs/digest.ts";
import { OWN_VIEW } from "../../library/permissions/view.ts";
import type { LinkRequest } from "../../sharing/shares/share-access.ts";
import { UPLOADS_PER_ADDRESS } from "../../sharing/shares/types.ts";
import { type DropBox, readSenderFields } from "../../sharing/shares/drop-box-form.ts";
import type { TusMetadata } from "./metadata.ts";
import type { TusSender } from "./types.ts";

/**
 * A guest of a drop box, recognized by the secret address of the upload. The guest sets the name, type, checksum and
 * sender's name. The owner decides folder, labels and name conflicts.
 * @param address the address by which the guest's uploads are counted
 * @throws AppError as {@link DropBox}
 */
export function guestSender(dropBox: DropBox, linkRequest: LinkRequest, address: string): TusSender {
  const { share } = dropBox.destination(linkRequest);
  const begunRequest = { ...linkRequest, hasBegun: true };
  return {
    confirm: () => void dropBox.destination(begunRequest),
    senderId: undefined,
    shareId: share.publicId,
    address,
    uploadsMax: share.maxUploadsPerAddress ?? UPLOADS_PER_ADDRESS,
    // Otherwise a stranger could use up the owner's quota by announcing large files and sending nothing.
    isTrusted: false,
    admit: (metadata) => void readSenderFields(senderFields(metadata)),
    makesFile: () => true,
    destination: () => {
      const { owner, path, limitBytes, tooLarge } = dropBox.destination(begunRequest);
      const target = { owner, isOwn: true, view: OWN_VIEW };
      return { ...target, folderPath: path, limitBytes, leftBytes: () => dropBox.leftBytes(begunRequest), tooLarge };
    },
    createFile: (pendingUpload, metadata, hooks) => {
      const { name: fileName, mediaType: declaredType } = metadata;
      return dropBox.finish(begunRequest, pendingUpload, { fileName, declaredType }, senderFields(metadata), hooks);
    },
    explain: (error) => dropBox.explain(begunRequest, error),
  };
}

function senderFields({ fields, sender }: TusMetadata): Map<string, string[]> {
  const form = new Map<string, string[]>();
  if (fields.checksum !== undefined) form.set("checksum", [toChecksum(fields.checksum)]);
  if (sender !== undefined) form.set("sender", [sender]);
  return form;
}
