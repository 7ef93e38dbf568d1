import { useState } from "react";
import { Badge } from "../../../ui/badge.tsx";
import type { Column } from "../../../ui/data-table.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { formatDateTime, formatNumber } from "../../../base/format.ts";
import { text } from "../text.ts";
import type { Delivery, Webhook } from "../types.ts";
import { useAdminData } from "../api.ts";
import { PagedTable } from "../paged-table.tsx";

const TONES = { queued: "accent", delivered: "success", failed: "danger" } as const;

/** The past and pending deliveries of a webhook, newest first. */
export function DeliveriesDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const [page, setPage] = useState(1);
  const query = useAdminData("GET /api/webhooks/{id}/deliveries", { id: webhook.id, query: { page } });
  return (
    <Dialog open size="large" onClose={onClose} title={text.deliveriesTitle} description={webhook.url}>
      <PagedTable
        query={query}
        rowsOf={({ deliveries }) => deliveries}
        empty={<p className="text-sm text-muted">{text.noDeliveries}</p>}
        caption={text.deliveries}
        columns={columns()}
        onPage={setPage}
      />
    </Dialog>
  );
}

function columns(): Column<Delivery>[] {
  return [
    { key: "event", title: text.event, isHeader: true, cell: ({ event }) => <code>{event}</code> },
    { key: "when", title: text.when, cell: ({ createdAt }) => formatDateTime(createdAt) },
    {
      key: "state",
      title: text.state,
      cell: ({ status }) => <Badge tone={TONES[status]}>{text.deliveryStates(status)}</Badge>,
    },
    { key: "attempts", title: text.attempts, align: "end", cell: ({ attempts }) => formatNumber(attempts) },
    { key: "answer", title: text.response, cell: ({ responseStatus, error }) => error ?? responseStatus ?? "" },
  ];
}
