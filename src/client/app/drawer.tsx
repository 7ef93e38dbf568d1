import { Dialog } from "@base-ui/react/dialog";
import { X } from "../ui/icons.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { uiText } from "../ui/text.ts";
import { SideBar } from "./side-bar.tsx";

/** The navigation as a drawer, for narrow screens. */
export function Drawer({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog.Root
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="appear fixed inset-0 z-40 bg-veil" />
        <Dialog.Popup className="appear fixed inset-y-0 start-0 z-40 flex w-72 max-w-[85vw] flex-col overflow-y-auto bg-surface shadow-2xl">
          <div className="flex items-center justify-between ps-7 pe-3 pt-3">
            <Dialog.Title className="text-lg font-semibold text-accent">{uiText.product}</Dialog.Title>
            <IconButton label={uiText.close} icon={X} hasTooltip={false} onClick={onClose} />
          </div>
          <div className="flex-1">
            <SideBar isInDrawer />
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
