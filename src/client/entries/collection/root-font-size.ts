let fontSize: number | undefined;

/** One rem in CSS pixels. Read once: the question makes the browser compute styles. */
export function rootFontSize(): number {
  fontSize ??= Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  return fontSize;
}
