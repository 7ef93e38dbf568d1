/**
 * The script of the set-up pages. After the choice of a household, the server restarts. Until it responds again, links
 * wait: a click opens the page as soon as the server is ready. Without this script, the page says to reload.
 */

const POLL_MS = 500;
const LATE_POLL_MS = 5_000;
/** A proxy may accept a request and respond only when the server is back. */
const REQUEST_MS_MAX = 5_000;
/** After this time, the page says where to look for the reason, and polls less often. */
const LATE_MS = 30_000;

const restart = document.querySelector<HTMLElement>("[data-restarting]");
if (restart !== null) void openAfterRestart(restart);

/** @param status shows the state; its attributes contain the texts and the base path */
async function openAfterRestart(status: HTMLElement): Promise<void> {
  const { basePath = "", restarting = "", restarted = "", late = "" } = status.dataset;
  const links = [...document.querySelectorAll("a")];
  let chosen: HTMLAnchorElement | undefined;
  const choose = (event: MouseEvent) => {
    // The browser opens a new tab or window.
    if (event.button !== 0 || event.ctrlKey || event.shiftKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    chosen?.removeAttribute("aria-busy");
    chosen = links.find((link) => link === event.currentTarget);
    chosen?.setAttribute("aria-busy", "true");
  };
  for (const link of links) link.addEventListener("click", choose);
  status.textContent = restarting;
  let pollMs = POLL_MS;
  const lateTimer = setTimeout(() => {
    status.textContent = late;
    pollMs = LATE_POLL_MS;
  }, LATE_MS);
  while (!(await isReady(`${basePath}/health/ready`))) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  clearTimeout(lateTimer);
  status.textContent = restarted;
  for (const link of links) link.removeEventListener("click", choose);
  if (chosen !== undefined) window.location.assign(chosen.href);
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(REQUEST_MS_MAX) })).ok;
  } catch {
    return false;
  }
}
