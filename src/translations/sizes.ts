/** Sizes in bytes, as each language writes them. */

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

/**
 * A size in units of 1024: `1.5 MB`, `0 bytes`, `1,5 Mo`.
 * @param formatOf returns a formatter with these options; creating one is slow
 */
export function formatSize(
  n: number,
  formatOf: (name: string, options: Intl.NumberFormatOptions) => Intl.NumberFormat,
): string {
  let value = n;
  let index = 0;
  while (value >= (index === 0 ? 1024 : 1023.95) && index < UNITS.length - 1) {
    value /= 1024;
    index += 1;
  }
  const unit = UNITS[index] ?? "byte";
  const maximumFractionDigits = value < 100 && index > 0 ? 1 : 0;
  const unitDisplay = index === 0 ? "long" : "short";
  const format = formatOf(`${unit} ${maximumFractionDigits}`, {
    style: "unit",
    unit,
    unitDisplay,
    maximumFractionDigits,
  });
  // A kilobyte of the metric system has 1,000 bytes, and a small k.
  return format.format(value).replace("kB", "KB");
}
