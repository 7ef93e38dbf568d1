/** What the API answers, as far as it is the API that answers: a proxy between gives pages of its own. */

/** A JSON text; undefined where it is none. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The words of a refusal. */
export function messageIn(body: string): string | undefined {
  const answer = parsed(body);
  if (typeof answer !== "object" || answer === null || !("error" in answer)) return undefined;
  const { error } = answer;
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  return typeof error.message === "string" ? error.message : undefined;
}
