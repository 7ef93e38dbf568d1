import { type PointerEvent, useRef, useState } from "react";
import { ApiError, messageOf } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Select } from "../../ui/select.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { contentAddress } from "../preview/addresses.ts";
import { type Area, centered, type Handle, HANDLES, moved, resized, rounded } from "./crop-area.ts";
import { text } from "./text.ts";

/** The size of an image in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Browsers decode the whole image. */
const BYTES_MAX = 60 * 1024 * 1024;
const RATIOS = { free: undefined, original: undefined, square: 1, "4:3": 4 / 3, "3:2": 3 / 2, "16:9": 16 / 9 } as const;
type Ratio = keyof typeof RATIOS;
const RATIO_NAMES: readonly Ratio[] = ["free", "original", "square", "4:3", "3:2", "16:9"];

/** Chooses the part of an image to keep, with the pointer or by numbers. */
export function CropDialog(props: { file: FileRecord; onCrop(area: Area): Promise<void>; onClose(): void }) {
  const { file, onCrop, onClose } = props;
  const [picture, setPicture] = useState<Size>();
  const [area, setArea] = useState<Area>();
  const [ratio, setRatio] = useState<Ratio>("free");
  const [problem, setProblem] = useState(file.size > BYTES_MAX ? text.tooLarge : undefined);
  const [isBusy, setBusy] = useState(false);
  const ratioOf = (name: Ratio) =>
    name === "original" && picture !== undefined ? picture.width / picture.height : RATIOS[name];
  const submit = async () => {
    if (area === undefined) return;
    setBusy(true);
    try {
      await onCrop(area);
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : messageOf(error));
      setBusy(false);
    }
  };
  const isWhole = area !== undefined && area.width === picture?.width && area.height === picture.height;
  return (
    <FormDialog
      title={text.cropTitle({ name: file.name })}
      description={text.cropHint}
      size="large"
      action={text.save}
      isBusy={isBusy}
      isDisabled={area === undefined || isWhole}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {file.size <= BYTES_MAX && (
        <CropStage
          address={contentAddress(file)}
          picture={picture}
          area={area}
          ratio={ratioOf(ratio)}
          onLoad={(size) => {
            setPicture(size);
            setArea(centered(size, undefined));
          }}
          onFailed={() => setProblem(text.notLoaded)}
          onArea={setArea}
        />
      )}
      {picture !== undefined && area !== undefined && (
        <>
          <Select
            label={text.ratio}
            value={ratio}
            options={RATIO_NAMES.map((value) => ({ value, label: ratioLabel(value) }))}
            onChange={(value) => {
              setRatio(value);
              if (value !== "free") setArea(centered(picture, ratioOf(value)));
            }}
          />
          <AreaFields area={area} onArea={(next) => setArea(rounded(next, picture))} />
        </>
      )}
    </FormDialog>
  );
}

function ratioLabel(ratio: Ratio): string {
  return ratio === "free" || ratio === "original" || ratio === "square" ? text[ratio] : ratio;
}

interface CropStageProps {
  readonly address: string;
  readonly picture: Size | undefined;
  readonly area: Area | undefined;
  /** Width by height that the area must have; undefined for any. */
  readonly ratio: number | undefined;
  onLoad(size: Size): void;
  onFailed(): void;
  onArea(area: Area): void;
}

/** The image with the area over it. */
export function CropStage({ address, picture, area, ratio, onLoad, onFailed, onArea }: CropStageProps) {
  const image = useRef<HTMLImageElement>(null);
  return (
    // The padding is for the handles at the edges. The shadow around the area ends with it.
    <div className="mx-auto w-fit overflow-hidden p-4">
      {picture === undefined && <Spinner />}
      <div className="relative touch-none select-none">
        <img
          ref={image}
          src={address}
          alt=""
          draggable={false}
          onLoad={({ currentTarget }) =>
            onLoad({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight })
          }
          onError={onFailed}
          className="block max-h-[50dvh] max-w-full"
        />
        {picture !== undefined && area !== undefined && (
          <CropFrame
            picture={picture}
            area={area}
            ratio={ratio}
            scaleOf={() => picture.width / (image.current?.clientWidth || picture.width)}
            onArea={onArea}
          />
        )}
      </div>
    </div>
  );
}

/** The area, which is moved by dragging it, and resized by its handles. */
function CropFrame(props: {
  picture: Size;
  area: Area;
  ratio: number | undefined;
  /** Pixels of the image for each pixel of the page. */
  scaleOf(): number;
  onArea(area: Area): void;
}) {
  const { picture, area, ratio, scaleOf, onArea } = props;
  const drag = useRef<{ readonly from: Area; readonly x: number; readonly y: number } | undefined>(undefined);
  const begin = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault();
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { from: area, x: event.clientX, y: event.clientY };
  };
  const follow = (handle: Handle | undefined) => (event: PointerEvent<HTMLElement>) => {
    const start = drag.current;
    if (start === undefined) return;
    event.stopPropagation();
    const scale = scaleOf();
    const by = { dx: (event.clientX - start.x) * scale, dy: (event.clientY - start.y) * scale };
    onArea(
      handle === undefined ? moved(start.from, by.dx, by.dy, picture) : resized(start.from, handle, by, picture, ratio),
    );
  };
  const end = () => {
    drag.current = undefined;
  };
  const onDrag = (handle?: Handle) => ({
    onPointerDown: begin,
    onPointerMove: follow(handle),
    onPointerUp: end,
    onPointerCancel: end,
  });
  const percent = (value: number, whole: number) => `${(value / whole) * 100}%`;
  return (
    <div
      data-crop-area
      className="absolute cursor-move shadow-[0_0_0_9999px_rgb(0_0_0/55%)] outline-2 outline-white"
      style={{
        left: percent(area.x, picture.width),
        top: percent(area.y, picture.height),
        width: percent(area.width, picture.width),
        height: percent(area.height, picture.height),
      }}
      {...onDrag()}
    >
      {HANDLES.map((handle) => (
        <span
          key={`${handle.x},${handle.y}`}
          data-crop-handle={`${handle.x},${handle.y}`}
          className={cx("absolute grid size-8 -translate-1/2 place-items-center", cursorOf(handle))}
          style={{ left: `${(handle.x + 1) * 50}%`, top: `${(handle.y + 1) * 50}%` }}
          {...onDrag(handle)}
        >
          <span className="size-3 rounded-full border-2 border-white bg-accent" />
        </span>
      ))}
    </div>
  );
}

function cursorOf({ x, y }: Handle): string {
  if (x === 0) return "cursor-ns-resize";
  if (y === 0) return "cursor-ew-resize";
  return x === y ? "cursor-nwse-resize" : "cursor-nesw-resize";
}

/** The area as numbers, which also work by keyboard and with a screen reader. */
export function AreaFields({ area, onArea }: { readonly area: Area; readonly onArea: (area: Area) => void }) {
  const fields = [
    ["x", text.left],
    ["y", text.top],
    ["width", text.width],
    ["height", text.height],
  ] as const;
  return (
    <fieldset className="grid grid-cols-2 gap-3 sm:grid-cols-4">
      <legend className="sr-only">{text.area}</legend>
      {fields.map(([field, label]) => (
        <TextField
          key={field}
          label={label}
          type="number"
          inputMode="numeric"
          min={field === "x" || field === "y" ? 0 : 1}
          value={String(area[field])}
          onChange={(value) => {
            const number = Number(value);
            if (value !== "" && Number.isInteger(number) && number >= 0) onArea({ ...area, [field]: number });
          }}
        />
      ))}
    </fieldset>
  );
}
