/** Speaks `text` to screen readers when they have time for it; the same text twice is spoken twice. */
export function announce(text: string): void {
  const region = liveRegion();
  // Readers speak what changes: an equal text has to be another one.
  region.textContent = region.textContent === text ? `${text}\u00A0` : text;
}

function liveRegion(): HTMLElement {
  const known = document.getElementById("announcements");
  if (known !== null) return known;
  const region = document.createElement("div");
  region.id = "announcements";
  region.className = "sr-only";
  region.setAttribute("role", "status");
  region.setAttribute("aria-live", "polite");
  document.body.append(region);
  return region;
}
