import { useLocation, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { apiAddress } from "../../../api/http.ts";
import type { FolderRecord } from "../../../api/types.ts";
import { pageKeyOf } from "../../../base/overlays.ts";
import { RightsContext } from "../../../entries/rights.ts";
import type { ReceivedShare } from "../../../entries/sharing/api.ts";
import { text } from "../../../entries/sharing/text.ts";
import { Download } from "../../../ui/icons.ts";
import { LinkButton } from "../../../ui/link-button.tsx";
import { PersonAvatar } from "../../../ui/person-avatar.tsx";
import type { Crumb } from "../breadcrumbs.tsx";
import { FolderView } from "../folder-view.tsx";
import { ownerName, rightsText } from "./received-entries.tsx";
import { contentRights } from "../../../entries/sharing/received-rights.ts";

/** A folder that another account shares: the same list as an own folder, with what the share allows. */
export function ReceivedFolder({
  share,
  top,
  path,
}: {
  readonly share: ReceivedShare;
  readonly top: FolderRecord;
  readonly path: string;
}) {
  const navigate = useNavigate();
  const historyKey = useLocation({ select: pageKeyOf });
  const { id, permissions, versions } = share;
  const rightsOf = useMemo(() => {
    const rights = contentRights({ id, permissions, versions });
    return () => rights;
  }, [id, permissions, versions]);
  const download = (
    <LinkButton icon={Download} href={apiAddress(`/api/files/folders/${top.id}/archive`)} download>
      {text.downloadZip}
    </LinkButton>
  );
  return (
    <RightsContext value={rightsOf}>
      <FolderView
        folder={path}
        historyKey={historyKey}
        share={{
          id: share.id,
          name: top.name,
          canWrite: permissions === "write",
          crumbs: crumbsAbove(share, top.name, path),
          actions: (
            <>
              <span className="text-sm text-muted">
                <span className="me-2 inline-block align-middle">
                  <PersonAvatar id={share.owner.id} name={ownerName(share)} size={22} />
                </span>
                <bdi>{text.sharedBy({ name: ownerName(share) })}</bdi> · {rightsText(share)}
              </span>
              {path === "/" && top.itemCount > 0 && download}
            </>
          ),
          goTo: (target) => void navigate({ to: "/shared/with-me", search: { share: share.id, path: target } }),
        }}
      />
    </RightsContext>
  );
}

/** The list of shares, and the folders of the share above a path. */
function crumbsAbove({ id: share, permissions }: ReceivedShare, topName: string, path: string): Crumb[] {
  const names = path.split("/").filter((name) => name !== "");
  const above = names.length === 0 ? [] : [topName, ...names.slice(0, -1)];
  return [
    { name: text.withMeTitle, link: { to: "/shared/with-me", search: {} } },
    ...above.map((name, index): Crumb => {
      const target = `/${names.slice(0, index).join("/")}`;
      const link = { to: "/shared/with-me", search: { share, path: target } } as const;
      return { name, link, ...(permissions === "write" && { folder: { folder: target, share } }) };
    }),
  ];
}
