/**
 * The initials of a name in a circle. Hidden from screen readers, because the name itself is next to it or is the label
 * of its button.
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

/** `Ada King Lovelace` → `AL`; an email address → its first letter. */
export function initialsOf(name: string): string {
  const names = name.trim().split(/\s+/u);
  const initials = names.length > 1 ? [names[0], names.at(-1)] : [names[0]];
  return initials
    .map((part) => [...(part ?? "")][0] ?? "")
    .join("")
    .toLocaleUpperCase();
}
