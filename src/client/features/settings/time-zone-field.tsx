import { useMemo } from "react";
import { locale } from "../../base/format.ts";
import { Select } from "../../ui/select.tsx";
import { text } from "./text.ts";

/** Chooses one of the time zones that the browser knows. */
export function TimeZoneField(props: { value: string; disabled?: boolean; onChange(zone: string): void }) {
  const options = useMemo(() => {
    const zones = new Set([...Intl.supportedValuesOf("timeZone"), "UTC", props.value]);
    return [...zones]
      .sort((a, b) => a.localeCompare(b, locale()))
      .map((value) => ({ value, label: value.replaceAll("_", " ") }));
  }, [props.value]);
  return (
    <Select
      className="w-full"
      label={text.timeZone}
      value={props.value}
      onChange={props.onChange}
      options={options}
      disabled={props.disabled}
    />
  );
}
