import { keyCaps } from "../base/shortcuts.ts";

/** The keys of a shortcut, named as on this device. */
export function Kbd({ keys }: { readonly keys: string }) {
  return (
    <span className="inline-flex gap-1">
      {keyCaps(keys).map((cap) => (
        <kbd
          key={cap}
          className="inline-flex min-w-6 justify-center rounded-md border border-line-strong bg-surface px-1.5 font-sans text-xs leading-5.5"
        >
          {cap}
        </kbd>
      ))}
    </span>
  );
}
