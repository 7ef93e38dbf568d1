/**
 * Name of a variable of the environment that holds a token of temporary keys of Amazon's, or undefined.
 * Bun's client adds it to every request, whatever keys it was given, and no option keeps it from that.
 */
export function findSessionToken(): string | undefined {
  return ["S3_SESSION_TOKEN", "AWS_SESSION_TOKEN"].find((name) => (process.env[name] ?? "") !== "");
}
