import { Button } from "../../ui/button.tsx";
import { Dialog, HasAddress } from "../../ui/dialog.tsx";
import { text as entriesText } from "../text.ts";
import { text } from "./text.ts";

/** Shown in place of the preview if the file in the address does not exist, or the account can't see it. */
export function MissingFile({ onClose }: { readonly onClose: () => void }) {
  return (
    <HasAddress value={true}>
      <Dialog
        open
        onClose={onClose}
        title={text.goneTitle}
        description={text.goneHint}
        footer={<Button onClick={onClose}>{entriesText.close}</Button>}
      />
    </HasAddress>
  );
}
