import { useQueryClient } from "@tanstack/react-query";
import { Crop, RotateCcw } from "lucide-react";
import { type ReactNode, Suspense, useRef, useState } from "react";
import { invalidateTree } from "../../api/queries.ts";
import { request } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";
import { RotateCw } from "../../ui/icons.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { showError, toast } from "../../ui/toast.tsx";
import type { PreviewAction } from "../preview/actions.ts";
import { editingLimits } from "./can-edit.ts";
import type { Area } from "./crop-area.ts";
import { text } from "./text.ts";

const CropDialog = lazyPart(() => import("./crop-dialog.tsx").then((part) => part.CropDialog));

/** The actions that change the pixels of an image, and the dialog that one of them opens. */
export function useEditActions(
  file: FileRecord | undefined,
  canChange: boolean,
): { actions: readonly PreviewAction[]; dialog: ReactNode } {
  const edit = useEdit();
  const [cropping, setCropping] = useState<string>();
  const limits = file === undefined || !canChange ? undefined : editingLimits(file);
  if (file === undefined || limits === undefined) return { actions: [], dialog: null };
  const rotate = (degrees: 90 | 270) => () => void edit(file, { rotate: degrees }, text.rotated).catch(showError);
  const off = (reason: string | undefined) => (reason === undefined ? {} : { disabled: true, hint: reason });
  const crop = async (area: Area) => {
    await edit(file, { crop: area }, text.cropped);
    setCropping(undefined);
  };
  return {
    actions: [
      { label: text.rotateRight, icon: RotateCw, keys: "r", run: rotate(90), ...off(limits.rotate) },
      { label: text.rotateLeft, icon: RotateCcw, keys: "shift+r", run: rotate(270), ...off(limits.rotate) },
      { label: text.crop, icon: Crop, run: () => setCropping(file.id), ...off(limits.crop) },
    ],
    dialog: cropping === file.id && (
      <Suspense fallback={null}>
        <CropDialog file={file} onCrop={crop} onClose={() => setCropping(undefined)} />
      </Suspense>
    ),
  };
}

/** Edits images, one edit after the other, so that two quick rotations become one of 180 degrees. */
function useEdit() {
  const queryClient = useQueryClient();
  const last = useRef<Promise<unknown>>(Promise.resolve());
  return (file: FileRecord, body: { readonly rotate?: 90 | 270; readonly crop?: Area }, message: string) => {
    const run = async () => {
      // The area was chosen on this content. A rotation applies to any.
      const headers = body.crop === undefined ? {} : { "if-match": `"${file.checksum.replace("sha256:", "")}"` };
      const { version } = await request<FileRecord>("POST", `/api/files/${file.id}/edit`, { body, headers });
      await invalidateTree(queryClient);
      toast({ text: message, action: { label: text.undo, run: () => void undo(version - 1).catch(showError) } });
    };
    const undo = async (version: number) => {
      await request("POST", `/api/files/${file.id}/versions/${version}/restore`);
      await invalidateTree(queryClient);
      toast({ text: text.undone });
    };
    const done = last.current.then(run, run);
    last.current = done.catch(() => undefined);
    return done;
  };
}
