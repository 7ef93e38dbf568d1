import { useVirtualizer } from "@tanstack/react-virtual";
import { Minus } from "lucide-react";
import { Plus } from "../../ui/icons.ts";
import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useRef, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { PasswordField } from "../../ui/password-field.tsx";
import type { PreviewedFile } from "../preview-source.ts";
import { NoPreview } from "./no-preview.tsx";
import { openPdf, PdfPasswordError } from "./pdf-document.ts";
import { PdfPage } from "./pdf-page.tsx";
import { text } from "./text.ts";
import { Form } from "../../ui/form.tsx";
import { useSize } from "../../ui/use-size.ts";
import { Loading } from "./loading.tsx";

const GAP_PX = 12;
const ZOOM_MAX = 4;
const ZOOM_MIN = 0.25;

interface OpenPdfFile {
  readonly document: PDFDocumentProxy;
  /** The size of the first page at scale 1. Other pages are assumed to have the same size until they are shown. */
  readonly width: number;
  readonly height: number;
}

type Outcome = OpenPdfFile | { readonly locked: PdfPasswordError } | "failed" | undefined;

/** A PDF with its pages below each other; only visible ones are rendered. */
export function PdfView({ file }: { readonly file: PreviewedFile }) {
  const [password, setPassword] = useState<string>();
  const outcome = usePdf(file, password);
  if (outcome === "failed") return <NoPreview file={file} message={text.pdfFailed} />;
  if (outcome === undefined) {
    return <Loading />;
  }
  if ("locked" in outcome) return <PasswordForm wasWrong={outcome.locked.wasWrong} onPassword={setPassword} />;
  return <Pages opened={outcome} name={file.name} startPage={file.startPage ?? 1} />;
}

function Pages({ opened, name, startPage }: { opened: OpenPdfFile; name: string; startPage: number }) {
  const { document: pdf, width, height } = opened;
  const scroller = useRef<HTMLDivElement>(null);
  const { width: stageWidth } = useSize(scroller);
  const [zoom, setZoom] = useState(1);
  // At 1 a page fills the width, up to a comfortable reading size.
  const fit = Math.min(Math.max(stageWidth - 24, 100) / width, 1.6);
  const scale = fit * zoom;
  const virtualizer = useVirtualizer({
    count: pdf.numPages,
    getScrollElement: () => scroller.current,
    estimateSize: () => height * scale + GAP_PX,
    overscan: 1,
  });
  useEffect(() => virtualizer.measure(), [scale, virtualizer]);
  const isSized = stageWidth > 0;
  useEffect(() => {
    if (isSized && startPage > 1) virtualizer.scrollToIndex(startPage - 1, { align: "start" });
  }, [isSized, startPage, virtualizer]);
  const zoomBy = (factor: number): void => setZoom((now) => Math.min(Math.max(now * factor, ZOOM_MIN), ZOOM_MAX));
  useZoomKeys(zoomBy, () => setZoom(1));
  const top = virtualizer.scrollOffset ?? 0;
  const current = virtualizer.getVirtualItems().find(({ end }) => end > top + GAP_PX)?.index ?? 0;
  return (
    <div className="relative size-full">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- must be scrollable by keyboard */}
      <div
        ref={scroller}
        role="region"
        aria-label={text.textContent({ name })}
        tabIndex={0}
        className="size-full overflow-auto"
      >
        <div
          className="relative min-w-max"
          style={{
            height: virtualizer.getTotalSize(),
            width: Math.max(width * scale, 0) || "auto",
            marginInline: "auto",
          }}
        >
          {virtualizer.getVirtualItems().map(({ key, index, start }) => (
            <div
              key={key}
              data-index={index}
              ref={virtualizer.measureElement}
              className="absolute inset-x-0 top-0 flex justify-center pb-3"
              style={{ transform: `translateY(${start}px)` }}
            >
              <PdfPage document={pdf} number={index + 1} scale={scale} width={width} height={height} />
            </div>
          ))}
        </div>
      </div>
      <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
        <div className="pointer-events-auto flex items-center rounded-xl border border-line-strong bg-raised shadow-lg">
          <IconButton label={text.zoomOut} icon={Minus} onClick={() => zoomBy(1 / 1.25)} />
          <span className="px-1 text-center text-sm tabular-nums">
            {text.page({ n: current + 1, all: pdf.numPages })}
          </span>
          <IconButton label={text.zoomIn} icon={Plus} onClick={() => zoomBy(1.25)} />
        </div>
      </div>
    </div>
  );
}

function PasswordForm({ wasWrong, onPassword }: { wasWrong: boolean; onPassword: (password: string) => void }) {
  const [value, setValue] = useState("");
  return (
    <div className="flex size-full items-center justify-center p-4">
      <Form
        onSubmit={() => onPassword(value)}
        className="flex w-full max-w-sm flex-col gap-4 rounded-xl border border-line bg-raised p-6"
      >
        <p>{text.pdfPassword}</p>
        <PasswordField
          label={text.password}
          value={value}
          onChange={setValue}
          autoComplete="off"
          {...(wasWrong && { error: text.pdfPasswordWrong })}
        />
        <Button type="submit" variant="primary">
          {text.openPdf}
        </Button>
      </Form>
    </div>
  );
}

function usePdf(file: FileRecord, password: string | undefined): Outcome {
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    let isOver = false;
    const opening = openPdf(file, password);
    const show = async (): Promise<void> => {
      const { document } = await opening;
      const { width, height } = (await document.getPage(1)).getViewport({ scale: 1 });
      if (!isOver) setOutcome({ document, width, height });
    };
    show().catch((error: unknown) => {
      if (!isOver) setOutcome(error instanceof PdfPasswordError ? { locked: error } : "failed");
    });
    return () => {
      isOver = true;
      void opening.then(({ close }) => close()).catch(() => undefined);
    };
  }, [file, password]);
  return outcome;
}

function useZoomKeys(zoomBy: (factor: number) => void, reset: () => void): void {
  const latest = useRef({ zoomBy, reset });
  useEffect(() => {
    latest.current = { zoomBy, reset };
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
      if (event.key === "+" || event.key === "=") latest.current.zoomBy(1.25);
      else if (event.key === "-") latest.current.zoomBy(1 / 1.25);
      else if (event.key === "0") latest.current.reset();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
