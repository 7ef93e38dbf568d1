import { Maximize, Minus } from "lucide-react";
import { memo, useMemo, useRef } from "react";
import type { PlaceRecord } from "../../api/places.ts";
import { formatNumber } from "../../base/format.ts";
import { cx } from "../../ui/cx.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Plus } from "../../ui/icons.ts";
import { useSize } from "../../ui/use-size.ts";
import { type Cluster, clusterPlaces, pointOf } from "./clusters.ts";
import { fitView, type MapPoint, readOutlines } from "./projection.ts";
import { text } from "./text.ts";
import { useMapView } from "./use-map-view.ts";
import outlines from "./outlines.txt" with { type: "text" };

const STEP = 2;

/** An outline map with the places. The list next to it has the same places for those who don't use the map. */
export function PlaceMap({
  places,
  nameOf,
  onOpen,
}: {
  readonly places: readonly PlaceRecord[];
  readonly nameOf: (place: PlaceRecord) => string;
  readonly onOpen: (place: PlaceRecord) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const size = useSize(frame);
  const { width, height } = size;
  const points = useMemo(() => pointsOf(places), [places]);
  const { view, zoomAt, fit, show, hasMoved, handlers } = useMapView(frame, points, size);
  const clusters = useMemo(() => clusterPlaces(places, { scale: view.scale }), [places, view.scale]);
  const press = (cluster: Cluster) => {
    if (hasMoved()) return;
    const [place] = cluster.places;
    if (cluster.places.length === 1 && place !== undefined) onOpen(place);
    else show(fitView(pointsOf(cluster.places), width, height));
  };
  const box = [
    view.x - width / 2 / view.scale,
    view.y - height / 2 / view.scale,
    width / view.scale,
    height / view.scale,
  ];
  return (
    <div className="relative h-72 overflow-hidden rounded-xl border border-line sm:h-96">
      <div
        ref={frame}
        {...handlers}
        className="relative size-full cursor-grab touch-none overflow-hidden bg-sunken select-none active:cursor-grabbing"
      >
        {width > 0 && (
          <svg
            role="img"
            aria-label={`${text.map}. ${text.mapHint}`}
            viewBox={box.join(" ")}
            width={width}
            height={height}
            className="block"
          >
            <Outlines />
          </svg>
        )}
        {clusters.map((cluster) => (
          <Marker
            key={cluster.places[0]?.id}
            cluster={cluster}
            x={(cluster.point.x - view.x) * view.scale + width / 2}
            y={(cluster.point.y - view.y) * view.scale + height / 2}
            label={
              cluster.places.length === 1
                ? cluster.places.map(nameOf).join("")
                : text.together({ n: cluster.places.length })
            }
            onPress={() => press(cluster)}
          />
        ))}
      </div>
      <ZoomButtons onZoom={zoomAt} onFit={fit} />
    </div>
  );
}

function pointsOf(places: readonly PlaceRecord[]): MapPoint[] {
  return places.flatMap((place) => pointOf(place) ?? []);
}

function ZoomButtons({ onZoom, onFit }: { readonly onZoom: (factor: number) => void; readonly onFit: () => void }) {
  return (
    <div className="absolute end-2 top-2 flex flex-col rounded-xl border border-line-strong bg-raised shadow">
      <IconButton label={text.zoomIn} icon={Plus} onClick={() => onZoom(STEP)} />
      <IconButton label={text.zoomOut} icon={Minus} onClick={() => onZoom(1 / STEP)} />
      <IconButton label={text.fit} icon={Maximize} onClick={onFit} />
    </div>
  );
}

/** The land. Drawn once: a zoom changes only the part that is shown. */
const Outlines = memo(function Outlines() {
  const { land, borders } = useMemo(() => readOutlines(outlines), []);
  return (
    <>
      <path d={land} className="fill-raised stroke-line-strong" strokeWidth={0.75} vectorEffect="non-scaling-stroke" />
      <path d={borders} className="fill-none stroke-line" strokeWidth={1} vectorEffect="non-scaling-stroke" />
    </>
  );
});

/** For the mouse and fingers: the list has links to the same places for the keyboard. */
function Marker({
  cluster,
  x,
  y,
  label,
  onPress,
}: {
  readonly cluster: Cluster;
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly onPress: () => void;
}) {
  const side = Math.round(26 + 8 * Math.log10(cluster.count));
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-hidden
      title={label}
      onClick={onPress}
      className={cx(
        "absolute grid -translate-x-1/2 -translate-y-1/2 cursor-pointer place-items-center rounded-full",
        "border-2 border-raised bg-accent text-xs font-medium text-on-accent tabular-nums shadow-md",
      )}
      style={{ left: x, top: y, minWidth: side, height: side, paddingInline: 4 }}
    >
      {formatNumber(cluster.count)}
    </button>
  );
}
