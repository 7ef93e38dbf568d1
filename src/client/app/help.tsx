import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { useShortcutGroups } from "../base/shortcuts.ts";
import { frameText } from "./text.ts";

/** Lists the keyboard shortcuts of the current page. */
export function Help({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const groups = useShortcutGroups();
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={frameText.keyboardHelp}
      description={frameText.keyboardHelpHint}
      size="large"
    >
      <div className="gap-x-10 sm:columns-2">
        {groups.map(({ title, shortcuts }) => (
          <section key={title} className="mb-5 break-inside-avoid">
            <h3 className="mb-1 text-sm font-semibold">{title}</h3>
            <dl>
              {shortcuts.map(({ keys, label }) => (
                <div
                  key={`${keys} ${label}`}
                  className="flex items-center justify-between gap-4 border-b border-line py-1.5 text-sm"
                >
                  <dt>{label}</dt>
                  <dd className="flex shrink-0 gap-2">
                    {keys.split(" ").map((way) => (
                      <Kbd key={way} keys={way} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
