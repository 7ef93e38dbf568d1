import { type CSSProperties, useEffect, useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { formatDateTime } from "../../base/format.ts";
import { TextField } from "../../ui/text-field.tsx";
import { fromLocalInput, HOURS_MAX, hoursAgo, hoursSince, toLocalInput } from "./moment.ts";
import { text } from "./text.ts";

/** How long the slider must rest before its moment is loaded. */
const REST_MS = 250;

/** Chooses a past moment: with a slider, by exact date, or with a preset. */
export function MomentChooser({ at, onChange }: { readonly at: string; readonly onChange: (at: string) => void }) {
  const sliderId = useId();
  const [hours, setHours] = useState<number>();
  const [typed, setTyped] = useState<string>();
  useEffect(() => {
    if (hours === undefined) return undefined;
    const timer = setTimeout(() => {
      onChange(hoursAgo(hours));
      setHours(undefined);
    }, REST_MS);
    return () => clearTimeout(timer);
  });
  const shownHours = hours ?? hoursSince(at);
  const shownAt = hours === undefined ? at : hoursAgo(hours);
  const choose = (moment: string) => {
    setTyped(undefined);
    setHours(undefined);
    onChange(moment);
  };
  // The present is at the end of the slider.
  const style: CSSProperties = { accentColor: "var(--accent)" };
  return (
    <section aria-label={text.moment} className="flex flex-col gap-3 rounded-xl border border-line p-4">
      <div>
        <label htmlFor={sliderId} className="flex flex-wrap justify-between gap-2 text-sm font-medium">
          <span>{text.slider}</span>
          <span className="text-muted">{text.daysAgo({ n: Math.round(shownHours / 24) })}</span>
        </label>
        <input
          id={sliderId}
          type="range"
          min={0}
          max={HOURS_MAX}
          step={1}
          value={HOURS_MAX - shownHours}
          aria-valuetext={formatDateTime(shownAt)}
          style={style}
          onChange={(event) => {
            setTyped(undefined);
            setHours(HOURS_MAX - Number(event.target.value));
          }}
          className="h-11 w-full"
        />
      </div>
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label={text.exact}
          type="datetime-local"
          step={1}
          value={typed ?? toLocalInput(shownAt)}
          onChange={(value) => {
            setTyped(value);
            const moment = fromLocalInput(value);
            if (moment !== undefined) onChange(moment);
          }}
        />
        <Presets onChoose={choose} />
      </div>
    </section>
  );
}

function Presets({ onChoose }: { readonly onChoose: (moment: string) => void }) {
  return (
    <div role="group" aria-label={text.presets} className="flex flex-wrap gap-2">
      <Button size="small" onClick={() => onChoose(hoursAgo(1))}>
        {text.hourAgo}
      </Button>
      <Button size="small" onClick={() => onChoose(hoursAgo(24))}>
        {text.dayAgo}
      </Button>
      <Button size="small" onClick={() => onChoose(hoursAgo(7 * 24))}>
        {text.weekAgo}
      </Button>
    </div>
  );
}
