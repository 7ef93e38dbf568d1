/** The strength of a password from 0 to 4, by length alone, because length is what makes it hard to guess. */
export function strengthOf(password: string): 0 | 1 | 2 | 3 | 4 {
  const characters = [...password];
  // Repeated characters count at most three times.
  const length = Math.min(characters.length, new Set(characters).size * 3);
  if (length === 0) return 0;
  if (characters.length < 8 || length < 8) return 1;
  if (length < 12) return 2;
  return length < 16 ? 3 : 4;
}
