import { type PDFDocumentProxy, type PDFPageProxy, type RenderTask, TextLayer } from "pdfjs-dist";
import { useEffect, useRef, useState } from "react";
import { text } from "./text.ts";

/** The maximum number of pixels of a canvas; phones reject larger ones. */
const CANVAS_PIXELS_MAX = 16_000_000;

/** pdf.js places invisible text over the image of the page, so that it can be read aloud, selected and searched. */
const TEXT_LAYER =
  "absolute inset-0 overflow-clip text-start leading-none [--min-font-size:1] " +
  "[--text-scale-factor:calc(var(--total-scale-factor)*var(--min-font-size))] [--min-font-size-inv:calc(1/var(--min-font-size))] " +
  "[&_span]:absolute [&_span]:origin-top-left [&_span]:whitespace-pre [&_span]:text-transparent [&_br]:absolute " +
  "[&_span]:[font-size:calc(var(--text-scale-factor)*var(--font-height,0))] " +
  "[&_span]:[transform:rotate(var(--rotate,0deg))_scaleX(var(--scale-x,1))_scale(var(--min-font-size-inv))] " +
  "[&_.markedContent]:contents";

/** One page at this scale. `width` and `height` reserve its space until its own size is known. */
export function PdfPage({
  document: pdf,
  number,
  scale,
  width,
  height,
}: {
  readonly document: PDFDocumentProxy;
  readonly number: number;
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const textLayer = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width, height });
  useEffect(() => {
    let isOver = false;
    let task: RenderTask | undefined;
    const show = async (): Promise<void> => {
      const page = await pdf.getPage(number);
      if (isOver || canvas.current === null || textLayer.current === null) return;
      const own = page.getViewport({ scale: 1 });
      setSize({ width: own.width, height: own.height });
      task = draw(page, canvas.current, scale);
      await task.promise;
      if (isOver) return;
      textLayer.current.replaceChildren();
      const layer = new TextLayer({
        textContentSource: page.streamTextContent(),
        container: textLayer.current,
        viewport: page.getViewport({ scale }),
      });
      await layer.render();
    };
    // A page that was closed, or is shown at another scale by now, is no error.
    show().catch(() => undefined);
    return () => {
      isOver = true;
      task?.cancel();
    };
  }, [pdf, number, scale]);
  return (
    <div
      role="group"
      aria-label={text.page({ n: number, all: pdf.numPages })}
      className="relative overflow-hidden bg-white shadow-lg"
      style={{ width: size.width * scale, height: size.height * scale }}
    >
      <canvas ref={canvas} aria-hidden className="size-full" />
      <div ref={textLayer} className={TEXT_LAYER} style={{ ["--total-scale-factor" as string]: scale }} />
    </div>
  );
}

function draw(page: PDFPageProxy, canvas: HTMLCanvasElement, scale: number): RenderTask {
  const viewport = page.getViewport({ scale });
  const pixels = viewport.width * viewport.height;
  const density = Math.min(window.devicePixelRatio, Math.sqrt(CANVAS_PIXELS_MAX / pixels));
  canvas.width = Math.floor(viewport.width * density);
  canvas.height = Math.floor(viewport.height * density);
  return page.render({ canvas, viewport, transform: [density, 0, 0, density, 0, 0] });
}
