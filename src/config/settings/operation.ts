import { choice, duration, integer, optionalText, readPath, size, toggle } from "../setting.ts";

/** Safeguards, thumbnails, metrics, and logs. */
export const OPERATION_SETTINGS = {
  macosFiles: choice(
    ["accept", "refuse"],
    "accept",
    "Whether WebDAV clients can store the files that macOS adds: .DS_Store, and files that begin with ._",
  ),
  massChangeFiles: integer(
    1,
    1_000_000_000,
    100,
    "If a device deletes or replaces more files than this in ten minutes, and more than massChangePercent of all files, the user must confirm.",
  ),
  massChangePercent: integer(
    0,
    100,
    25,
    "Percentage of all files that triggers a confirmation together with massChangeFiles.",
  ),
  thumbnails: {
    enabled: toggle(true, "Create thumbnails."),
    concurrency: integer(1, 16, 2, "Number of thumbnails created concurrently."),
    timeout: duration("1s", "10m", "30s", "Maximum time to create one thumbnail."),
    memoryLimit: size("768MB", "Memory limit of the thumbnail process; above it, the process is stopped."),
  },
  search: {
    content: toggle(
      true,
      "Search in the content of files: text, PDF, and office documents. Turning this off deletes the index of their texts.",
    ),
  },
  nativeDir: optionalText(
    "path",
    readPath,
    "Directory to which the executable extracts its native libraries, if the data directory is mounted noexec.",
  ),
  libvips: optionalText("path", readPath, "Path of a libvips-cpp library to use instead of the embedded one."),
  metricsAccess: choice(
    ["local", "admin", "open"],
    "local",
    "Who can read /metrics: this machine and administrator API keys (local), only administrator API keys (admin), or everyone (open).",
  ),
  log: choice(
    ["auto", "pretty", "json"],
    "auto",
    "Log format on standard error: readable text (pretty; in color on a terminal unless NO_COLOR is set), JSON lines, or auto, which selects pretty on a terminal. With json, lines on standard output are JSON too.",
  ),
  logRequests: choice(
    ["off", "errors", "all"],
    "errors",
    "Requests to log: none (off), server errors and requests longer than 10 seconds (errors), or all. Log lines of a request include its ID.",
  ),
  logLevel: choice(["debug", "info", "warn", "error"], "info", "Minimum level of log lines."),
};
