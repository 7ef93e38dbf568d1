import { Link } from "@tanstack/react-router";
import { Smartphone } from "lucide-react";
import { Button, buttonClassName } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { cx } from "../../../ui/cx.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { formatBytes, formatDate, formatRelative } from "../../../base/format.ts";
import type { Device } from "../api.ts";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";
import { LoadedList } from "../../../ui/loaded.tsx";
import { useDelete, useList } from "../api.ts";

/** The account's phones: their sync settings, and a button to remove one. */
export function DevicesSection() {
  const devices = useList("devices");
  const deleteThen = useDelete("devices", "sessions", "usage");
  const remove = (device: Device) =>
    deleteThen(
      `/api/users/devices/${encodeURIComponent(device.id)}`,
      { title: text.removeDevice(device.name), body: text.removeDeviceLead, action: text.removeDeviceAction },
      text.deviceRemoved(device.name),
    );
  return (
    <Card title={text.devices} description={text.devicesLead}>
      <LoadedList
        query={devices}
        empty={
          <EmptyState icon={Smartphone} title={text.noDevices}>
            {text.noDevicesLead}
          </EmptyState>
        }
      >
        {(items) => (
          <Rows label={text.devices} rows={items.map((device) => rowOf(device, () => void remove(device)))} />
        )}
      </LoadedList>
    </Card>
  );
}

function rowOf(device: Device, onRemove: () => void): Row {
  return {
    key: device.id,
    icon: <Smartphone />,
    title: device.name,
    lines: [
      [device.platform, device.osVersion, device.appVersion && text.appVersion(device.appVersion)]
        .filter(Boolean)
        .join(" · "),
      `${text.lastActive(formatRelative(device.lastActiveAt))} · ${text.registered(formatDate(device.registeredAt))}`,
    ],
    actions: (
      <>
        <Link
          to="/history"
          search={{ tab: "rewind", device: device.id }}
          aria-label={text.rewindOf(device.name)}
          className={cx(buttonClassName({}), "no-underline")}
        >
          {text.rewind}
        </Link>
        <Button variant="danger" aria-label={text.removeDevice(device.name)} onClick={onRemove}>
          {text.removeDeviceAction}
        </Button>
      </>
    ),
    more: (
      <details className="ms-8 text-sm">
        <summary className="w-fit py-1 text-muted">{text.deviceSettings}</summary>
        <div className="mt-2 flex flex-col gap-2">
          <DescriptionList items={listSyncSettings(device)} />
          <p className="text-muted">{text.deviceSettingsLead}</p>
        </div>
      </details>
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
