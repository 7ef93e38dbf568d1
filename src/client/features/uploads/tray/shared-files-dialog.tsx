import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { request } from "../../../api/http.ts";
import { keys } from "../../../api/queries.ts";
import type { Listing } from "../../../api/types.ts";
import { deleteSharedFiles, listSharedFiles, type SharedFiles } from "../../../base/shared-files.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Select } from "../../../ui/select.tsx";
import { text } from "../text.ts";
import { uploads } from "../uploads.ts";

const NONE: SharedFiles = { files: [], keys: [] };

/** Takes files that another app shared ("Share → Larder"), asks for a folder, and uploads them there. */
export function SharedFilesDialog() {
  const [shared, setShared] = useState(NONE);
  const { files } = shared;
  const [folder, setFolder] = useState("/");
  const folders = useQuery({
    queryKey: keys.listing("/", "folders for shared files"),
    queryFn: ({ signal }) =>
      request<Listing>("GET", "/api/files", { query: { folder: "/", type: "folder", limit: 100 }, signal }),
    enabled: files.length > 0,
  });
  useEffect(() => {
    // A browser without IndexedDB has received nothing either.
    void listSharedFiles()
      .then(setShared)
      .catch(() => setShared(NONE));
  }, []);
  const options = [
    { value: "/", label: text.home },
    ...(folders.data?.files ?? []).flatMap((entry) =>
      entry.type === "folder" ? [{ value: entry.path, label: entry.name }] : [],
    ),
  ];
  const forget = (): void => {
    setShared(NONE);
    // If that fails, they are offered once more, which loses nothing.
    void deleteSharedFiles(shared.keys).catch(() => undefined);
  };
  const upload = async (): Promise<void> => {
    const batch = await uploads.add(
      files.map((file) => ({ file, path: file.name })),
      folder,
    );
    if (batch !== undefined) forget();
  };
  return (
    <Dialog
      open={files.length > 0}
      isPersistent
      onClose={forget}
      title={text.sharedTitle({ n: files.length })}
      description={text.sharedBody}
      footer={
        <>
          <Button onClick={forget}>{text.sharedDiscard}</Button>
          <Button variant="primary" onClick={() => void upload()}>
            {text.sharedUpload}
          </Button>
        </>
      }
    >
      <ul className="mb-3 max-h-40 overflow-y-auto text-sm text-muted">
        {files.map((file, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- two may have one name, and none moves
          <li key={`${index} ${file.name}`} className="truncate">
            {file.name}
          </li>
        ))}
      </ul>
      <Select label={text.sharedFolder} value={folder} onChange={setFolder} options={options} />
    </Dialog>
  );
}
