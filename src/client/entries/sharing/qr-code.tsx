import { useQuery } from "@tanstack/react-query";
import { Download } from "../../ui/icons.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { text } from "./text.ts";
import { followLink } from "../../base/follow-link.ts";

/** A link as a QR code to scan with a phone, or to download as an image. */
export function QrDialog({
  url,
  name,
  onClose,
}: {
  readonly url: string;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const code = useQuery({
    queryKey: ["qr-svg", url],
    queryFn: async () => {
      const { renderSVG } = await import("uqr");
      return `data:image/svg+xml,${encodeURIComponent(renderSVG(url, { ecc: "M", border: 2 }))}`;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.qrTitle({ name })}
      description={text.qrHint}
      footer={
        <Button
          icon={Download}
          disabled={code.data === undefined}
          onClick={() => followLink(code.data ?? "", `${name}.svg`)}
        >
          {text.qrDownload}
        </Button>
      }
    >
      <div className="flex justify-center">
        {code.data !== undefined && (
          // Dark on light in every theme, because many cameras read nothing else.
          <img
            src={code.data}
            alt={text.qrTitle({ name })}
            width={256}
            height={256}
            className="rounded-lg bg-white p-2"
          />
        )}
      </div>
    </Dialog>
  );
}
