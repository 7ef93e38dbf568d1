/** Whether a text is an ISO 8601 time with its offset. */
export function isInstant(text: string): boolean {
  const isIso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  return isIso && !Number.isNaN(Date.parse(text));
}
