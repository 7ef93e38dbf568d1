/**
 * SQL for the aspect ratio of a row `m` of `media_info`: width divided by height as displayed, in percent. 0 if it is
 * not known. Clamped, so that a known one is never 0.
 */
export const ASPECT = `CASE WHEN m.width > 0 AND m.height > 0
  THEN CAST(max(1, min(10000, round(100.0 * m.width / m.height))) AS INTEGER) ELSE 0 END`;
