import { useEffect, useState } from "react";
import { ApiError, messageOf, request } from "../../../api/http.ts";
import { type Area, centered, rounded } from "../../../entries/editing/crop-area.ts";
import { AreaFields, CropStage, type Size } from "../../../entries/editing/crop-dialog.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { text } from "../text.ts";

/** The server stores a picture of 256 pixels; twice that keeps it sharp. */
const SIDE = 512;
const QUALITY = 0.92;

/** Chooses the square part of an image that becomes the own picture. */
export function PictureDialog(props: {
  readonly file: File;
  readonly onSaved: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const { file, onSaved, onClose } = props;
  const address = useAddressOf(file);
  const [picture, setPicture] = useState<Size>();
  const [area, setArea] = useState<Area>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    if (area === undefined || address === undefined) return;
    setBusy(true);
    try {
      await request("PUT", "/api/users/avatar", { raw: await cut(address, area) });
      await onSaved();
      onClose();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : messageOf(error));
      setBusy(false);
    }
  };
  return (
    <FormDialog
      title={text.pictureTitle}
      description={text.pictureHint}
      size="large"
      action={text.save}
      isBusy={isBusy}
      isDisabled={area === undefined}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {address !== undefined && (picture !== undefined || problem === undefined) && (
        <CropStage
          address={address}
          picture={picture}
          area={area}
          ratio={1}
          onLoad={(size) => {
            setPicture(size);
            setArea(centered(size, 1));
          }}
          onFailed={() => setProblem(text.pictureNotShown)}
          onArea={setArea}
        />
      )}
      {picture !== undefined && area !== undefined && (
        <AreaFields area={area} onArea={(next) => setArea(square(next, area, picture))} />
      )}
    </FormDialog>
  );
}

/** An address of a file for this page, while it is shown. */
function useAddressOf(file: File): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return address;
}

/** The area after a change of one number: the other side follows. */
function square(next: Area, before: Area, picture: Size): Area {
  const wished = next.height === before.height ? next.width : next.height;
  const side = Math.max(1, Math.min(wished, picture.width, picture.height));
  const x = Math.min(next.x, picture.width - side);
  const y = Math.min(next.y, picture.height - side);
  return rounded({ x, y, width: side, height: side }, picture);
}

/** The part of an image, scaled down. The image itself may be too large for the server, or of a format that only this browser reads. */
async function cut(address: string, { x, y, width, height }: Area): Promise<Blob> {
  const image = new Image();
  image.src = address;
  await image.decode();
  const side = Math.min(SIDE, width);
  const canvas = document.createElement("canvas");
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error(text.pictureNotShown);
  context.imageSmoothingQuality = "high";
  context.drawImage(image, x, y, width, height, 0, 0, side, side);
  // Browsers that can't write WebP write a PNG.
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/webp", QUALITY));
  if (blob === null) throw new Error(text.pictureNotShown);
  return blob;
}
