/**
 * The first letters of a name in a circle; the name itself stands beside it or is the name of the button it is in. They are
 * drawn, not written: no part of that name.
 */
export function Avatar({ name, size = 32 }: { readonly name: string; readonly size?: number }) {
  return (
    <span
      aria-hidden
      data-initials={initialsOf(name)}
      className="inline-flex before:content-[attr(data-initials)] shrink-0 items-center justify-center rounded-full bg-accent font-semibold text-on-accent select-none"
      style={{ width: size, height: size, fontSize: size * 0.4 }}
    />
  );
}

/** `Ada King Lovelace` → `AL`; of an e-mail its first letter. */
export function initialsOf(name: string): string {
  const names = name.trim().split(/\s+/u);
  const initials = names.length > 1 ? [names[0], names.at(-1)] : [names[0]];
  return initials
    .map((word) => [...(word ?? "")][0] ?? "")
    .join("")
    .toLocaleUpperCase();
}
