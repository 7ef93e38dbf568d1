import { Printer } from "lucide-react";
import { Copy, Download } from "../../../ui/icons.ts";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { copyText } from "../../../ui/copy-field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { toast } from "../../../ui/toast.tsx";
import { text } from "../text.ts";
import { followLink } from "../../../base/follow-link.ts";

/**
 * Shows the recovery codes, which can't be shown again. It closes only after the person confirms that they saved them.
 */
export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[]; onClose(): void }) {
  const [isConfirmed, setConfirmed] = useState(false);
  const asText = `${text.recoveryFileHead({ host: window.location.host })}\n\n${codes.join("\n")}\n`;
  return (
    <Dialog
      open
      // They can't be shown again, so neither Escape nor a press outside may close the dialog.
      onClose={() => isConfirmed && onClose()}
      isPersistent
      hasClose={false}
      title={text.recoveryCodes}
      description={text.recoveryLead}
      footer={
        <Button variant="primary" disabled={!isConfirmed} onClick={onClose}>
          {text.done}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <ol className="grid grid-cols-1 gap-x-6 gap-y-1.5 rounded-lg bg-sunken p-4 font-mono text-sm sm:grid-cols-2">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <div className="flex flex-wrap gap-2">
          <Button icon={Copy} onClick={() => void copy(codes.join("\n"))}>
            {text.copy}
          </Button>
          <Button icon={Download} onClick={() => save(asText)}>
            {text.download}
          </Button>
          <Button icon={Printer} onClick={() => print(asText)}>
            {text.print}
          </Button>
        </div>
        <Checkbox label={text.codesSaved} checked={isConfirmed} onChange={setConfirmed} />
      </div>
    </Dialog>
  );
}

async function copy(codes: string): Promise<void> {
  const isCopied = await copyText(codes);
  toast(isCopied ? { text: text.copied, tone: "success" } : { text: text.notCopied, tone: "danger" });
}

function addressOf(content: string): string {
  return URL.createObjectURL(new Blob([content], { type: "text/plain;charset=utf-8" }));
}

function save(content: string): void {
  const address = addressOf(content);
  followLink(address, "larder-recovery-codes.txt");
  URL.revokeObjectURL(address);
}

/** Prints only the codes, from a hidden frame that is removed after printing. */
function print(content: string): void {
  const frame = document.createElement("iframe");
  frame.src = addressOf(content);
  frame.title = text.recoveryCodes;
  frame.className = "sr-only";
  frame.addEventListener("load", () => {
    frame.contentWindow?.addEventListener("afterprint", () => {
      URL.revokeObjectURL(frame.src);
      frame.remove();
    });
    frame.contentWindow?.print();
  });
  document.body.append(frame);
}
