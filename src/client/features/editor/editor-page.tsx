import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { useSession } from "../../api/session.ts";
import { formatBytes } from "../../base/format.ts";
import { downloadAddress } from "../../entries/preview/addresses.ts";
import { useGoToFolder } from "../../entries/folder-address.ts";
import { Button, buttonClassName } from "../../ui/button.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Notice } from "../../ui/notice.tsx";
import { SignInLayout } from "../../ui/sign-in-layout.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { uiText } from "../../ui/text.ts";
import { type OpenedDocument, openDocument } from "./document.ts";
import { draftsOf } from "./drafts.ts";
import { EditorScreen } from "./editor-screen.tsx";
import { text } from "./text.ts";
import { EDITED_BYTES_MAX } from "./text-format.ts";

/** `/edit/$fileId`: a text file, to be changed in place. */
export function EditorPage() {
  const { fileId = "" } = useParams({ strict: false });
  const { user } = useSession();
  const opened = useQuery({
    queryKey: ["editor", user.id, fileId],
    queryFn: async ({ signal }) => ({
      document: await openDocument(fileId, signal),
      draft: await draftsOf(user.id, fileId).find(),
    }),
    // What is being edited must not change in the background.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const name = opened.data?.document.file.name ?? "";
  useEffect(() => {
    document.title = name === "" ? uiText.product : `${text.title({ name })} · ${uiText.product}`;
  }, [name]);
  if (opened.isError) {
    return (
      <Centered>
        <ErrorState error={opened.error} onRetry={() => void opened.refetch()} />
      </Centered>
    );
  }
  if (opened.data === undefined) {
    return (
      <Centered>
        <Spinner size={28} />
      </Centered>
    );
  }
  const { document: found, draft } = opened.data;
  const { content } = found;
  if (typeof content === "string") return <NotEditable opened={found} reason={content} />;
  return <EditorScreen key={fileId} opened={found} content={content} draft={draft} />;
}

function NotEditable({
  opened: { file },
  reason,
}: {
  readonly opened: OpenedDocument;
  readonly reason: "too-large" | "not-text";
}) {
  const goToFolder = useGoToFolder();
  return (
    <SignInLayout title={file.name}>
      <Notice>{reason === "too-large" ? text.tooLarge({ limit: formatBytes(EDITED_BYTES_MAX) }) : text.notText}</Notice>
      <div className="flex flex-wrap gap-2">
        <a href={downloadAddress(file)} download={file.name} className={buttonClassName({ variant: "primary" })}>
          {text.download}
        </a>
        <Button onClick={() => goToFolder(file.folder)}>{text.toFolder}</Button>
      </div>
    </SignInLayout>
  );
}

function Centered({ children }: { readonly children: ReactNode }) {
  return <main className="flex min-h-dvh items-center justify-center bg-surface">{children}</main>;
}
