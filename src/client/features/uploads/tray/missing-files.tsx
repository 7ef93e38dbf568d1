import { Button } from "../../../ui/button.tsx";
import { toast } from "../../../ui/toast.tsx";
import { chooseByInput } from "../engine/pick.ts";
import { text } from "../text.ts";
import type { Upload } from "../engine/types.ts";
import { uploadEngine } from "../page-engine.ts";

/** For files that can no longer be read: lets the person allow access, or choose them again. */
export function MissingFiles({ uploads }: { readonly uploads: readonly Upload[] }) {
  const missing = uploads.filter(({ state }) => state === "missing");
  if (missing.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2 border-b border-line bg-warning-soft px-4 py-2">
      {missing.some(({ id }) => uploadEngine().canRequestAccess(id)) && (
        <Button size="small" variant="primary" onClick={() => void uploadEngine().requestAccess()}>
          {text.allowFiles}
        </Button>
      )}
      <Button size="small" onClick={() => void chooseAgain()}>
        {text.chooseFiles}
      </Button>
    </div>
  );
}

async function chooseAgain(): Promise<void> {
  const files = await chooseByInput(false);
  if (files.length > 0 && uploadEngine().provide(files) === 0) toast({ text: text.notTheSame, tone: "danger" });
}
