/** Compares by UTF-8 bytes, as SQLite's BINARY does. `<` would order characters beyond U+FFFF before U+E000. */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates encode the largest code points, so they sort after everything else.
    if (x >= 0xd800 && y >= 0xd800) {
      if (x <= 0xdfff) x += 0x10000;
      if (y <= 0xdfff) y += 0x10000;
    }
    return x - y;
  }
  return a.length - b.length;
}
