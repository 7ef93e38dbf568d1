import { Link } from "@tanstack/react-router";
import { Smartphone } from "lucide-react";
import { messageOf, request } from "../../../api/http.ts";
import { Button, buttonClassName } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { useConfirm } from "../../../ui/confirm.tsx";
import { cx } from "../../../ui/cx.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { formatBytes, formatDate, formatRelative } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { type Device, useRefresh, useResource } from "../api.ts";
import { Loaded } from "../loaded.tsx";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";

/** The account's phones: their sync settings, and a button to remove one. */
export function DevicesSection() {
  const devices = useResource("devices");
  const refresh = useRefresh();
  const confirm = useConfirm();
  const remove = async (device: Device) => {
    const isSure = await confirm({
      title: text.removeDevice(device.name),
      body: text.removeDeviceLead,
      action: text.removeDeviceAction,
      danger: true,
    });
    if (!isSure) return;
    try {
      await request("DELETE", `/api/users/devices/${encodeURIComponent(device.id)}`);
      toast({ text: text.deviceRemoved(device.name), tone: "success" });
    } catch (error) {
      toast({ text: messageOf(error), tone: "danger" });
    }
    await refresh("devices", "sessions", "usage");
  };
  const rowOf = (device: Device): Row => ({
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
        <Button variant="danger" aria-label={text.removeDevice(device.name)} onClick={() => void remove(device)}>
          {text.removeDeviceAction}
        </Button>
      </>
    ),
    more: (
      <details className="ms-8 text-sm">
        <summary className="w-fit py-1 text-muted">{text.deviceSettings}</summary>
        <div className="mt-2 flex flex-col gap-2">
          <Facts facts={factsOf(device)} />
          <p className="text-muted">{text.deviceSettingsLead}</p>
        </div>
      </details>
    ),
  });
  return (
    <Card title={text.devices} description={text.devicesLead}>
      <Loaded query={devices}>
        {(data) =>
          data.devices.length === 0 ? (
            <EmptyState icon={Smartphone} title={text.noDevices}>
              {text.noDevicesLead}
            </EmptyState>
          ) : (
            <Rows label={text.devices} rows={data.devices.map(rowOf)} />
          )
        }
      </Loaded>
    </Card>
  );
}

function factsOf({ settings }: Device): (readonly [string, string])[] {
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
