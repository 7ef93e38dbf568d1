import { Disclosure } from "../../../ui/disclosure.tsx";
import { Link } from "@tanstack/react-router";
import { Cable, Smartphone } from "lucide-react";
import { Button, buttonClassName } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { cx } from "../../../ui/cx.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { formatBytes, formatDate, formatRelative } from "../../../base/format.ts";
import { type AppPassword, type Device, useAppPasswords, useDelete, useList } from "../api.ts";
import { AppPasswordName, describeAccess, describeUse, useEndAppPassword } from "../connect/app-passwords-card.tsx";
import { LocksCard } from "../connect/locks-card.tsx";
import { text as connectText } from "../connect/text.ts";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { Notice } from "../../../ui/notice.tsx";

/** Everything that syncs with the account: registered phones and the programs with app passwords; the locks of files. */
export function DevicesSection() {
  const devices = useList("devices");
  const passwords = useAppPasswords();
  const deleteThen = useDelete("devices", "sessions", "usage");
  const endPassword = useEndAppPassword();
  const remove = (device: Device) =>
    deleteThen(
      `/api/users/devices/${encodeURIComponent(device.id)}`,
      { title: text.removeDevice({ name: device.name }), body: text.removeDeviceLead, action: text.removeDeviceAction },
      text.deviceRemoved({ name: device.name }),
    );
  const rowsOf = (items: readonly Device[], programs: readonly AppPassword[]): readonly Row[] =>
    [
      ...items.map((device) => ({ at: device.lastActiveAt, row: rowOf(device, () => void remove(device)) })),
      ...programs.map((program) => ({
        at: program.lastUsedAt ?? "",
        row: programRow(program, () => void endPassword(program)),
      })),
    ]
      .toSorted((a, b) => b.at.localeCompare(a.at))
      .map(({ row }) => row);
  return (
    <>
      <HoldsNotice />
      <Card title={text.devices} description={text.devicesLead} actions={<ConnectLink />}>
        <Loaded query={devices}>
          {(items) => (
            <Loaded query={passwords}>
              {(programs) =>
                items.length + programs.length === 0 ? (
                  <EmptyState icon={Smartphone} title={text.noDevices}>
                    {text.noDevicesLead}
                  </EmptyState>
                ) : (
                  <Rows label={text.devices} rows={rowsOf(items, programs)} />
                )
              }
            </Loaded>
          )}
        </Loaded>
      </Card>
      <LocksCard />
    </>
  );
}

/** Says that changes wait for approval. A program that was stopped sends the person to this page. */
function HoldsNotice() {
  const holds = useList("holds");
  const count = holds.data?.length ?? 0;
  if (count === 0) return null;
  return (
    <Notice>
      {text.holds({ count })}{" "}
      <Link
        to="/history"
        search={{ tab: "holds" }}
        className="reach inline-flex min-h-6 items-center font-medium text-accent underline"
      >
        {text.reviewHolds}
      </Link>
    </Notice>
  );
}

function ConnectLink() {
  return (
    <Link
      to="/settings/$section"
      params={{ section: "connect" }}
      className={cx(buttonClassName({ variant: "primary" }), "no-underline")}
    >
      {connectText.title}
    </Link>
  );
}

function RewindLink({ device, name }: { readonly device: string; readonly name: string }) {
  return (
    <Link
      to="/history"
      search={{ tab: "rewind", device }}
      aria-label={text.rewindOf({ name })}
      className={cx(buttonClassName({}), "no-underline")}
    >
      {text.rewind}
    </Link>
  );
}

function programRow(program: AppPassword, onEnd: () => void): Row {
  return {
    key: program.id,
    icon: <Cable />,
    title: <AppPasswordName password={program} />,
    lines: [describeUse(program), connectText.accessByPassword({ access: describeAccess(program) })],
    actions: (
      <>
        {program.lastUsedAt !== null && <RewindLink device={program.id} name={program.name} />}
        <Button aria-label={connectText.endAccessOf({ name: program.name })} onClick={onEnd}>
          {connectText.endAction}
        </Button>
      </>
    ),
  };
}

function rowOf(device: Device, onRemove: () => void): Row {
  return {
    key: device.id,
    icon: <Smartphone />,
    title: device.name,
    lines: [
      [device.platform, device.osVersion, device.appVersion && text.appVersion({ version: device.appVersion })]
        .filter(Boolean)
        .join(" · "),
      `${text.lastActive({ when: formatRelative(device.lastActiveAt) })} · ${text.registered({ date: formatDate(device.registeredAt) })}`,
    ],
    actions: (
      <>
        <RewindLink device={device.id} name={device.name} />
        <Button aria-label={text.removeDevice({ name: device.name })} onClick={onRemove}>
          {text.removeDeviceAction}
        </Button>
      </>
    ),
    more: (
      <Disclosure title={text.deviceSettings} className="ms-8 text-sm text-muted">
        <div className="mt-2 flex flex-col gap-2">
          <DescriptionList items={listSyncSettings(device)} />
          <p>{text.deviceSettingsLead}</p>
        </div>
      </Disclosure>
    ),
  };
}

function listSyncSettings({ settings }: Device): (readonly [string, string])[] {
  const yesNo = (is: boolean) => (is ? text.yes : text.no);
  return [
    [text.autoUpload, yesNo(settings.autoUpload)],
    [text.uploadQuality, text.qualityName(settings.uploadQuality)],
    [text.wifiOnly, yesNo(settings.wifiOnly)],
    [text.backgroundSync, yesNo(settings.backgroundSync)],
    [text.syncFolders, settings.syncFolders.length === 0 ? text.allFolders : settings.syncFolders.join(", ")],
    [text.cacheSize, formatBytes(settings.maxCacheSize)],
  ];
}
