/** Parses API responses. Responses may also come from a proxy, with pages of its own. */

/** Parses JSON; undefined if it is invalid. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The message of an error response. */
export function messageIn(body: string): string | undefined {
  const response = parsed(body);
  if (typeof response !== "object" || response === null || !("error" in response)) return undefined;
  const { error } = response;
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  return typeof error.message === "string" ? error.message : undefined;
}
