/** Announces `text` to screen readers. Repeating the same text announces it again. */
export function announce(text: string): void {
  const region = liveRegion();
  // Screen readers announce changes only, so a repeated text must differ.
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
