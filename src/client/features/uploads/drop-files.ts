import type { Destination } from "../../entries/actions/bulk.ts";
import { walkTransfer } from "./engine/walk.ts";
import { uploadWalk } from "./upload-walk.ts";
import { uploads } from "./uploads.ts";

/** Uploads files and folders from the desktop that are dropped on a folder. */
export function dropFiles({ folder, share }: Destination, transfer: DataTransfer): void {
  void uploadWalk((skip) => walkTransfer(transfer, skip), folder, share, uploads.add);
}
