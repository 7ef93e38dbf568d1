// The theme that the web app stored, for pages outside of it. A classic script that blocks the first paint, so it is
// small and imports nothing.
try {
  const theme = window.localStorage.getItem("larder-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch {
  // Storage is switched off, so no theme can be stored.
}
