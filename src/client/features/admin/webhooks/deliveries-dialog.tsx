import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { keys } from "../../../api/queries.ts";
import type { Pagination } from "../../../api/types.ts";
import { Badge } from "../../../ui/badge.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { formatDateTime, formatNumber } from "../../../base/format.ts";
import { Loaded } from "../loaded.tsx";
import { Pager } from "../pager.tsx";
import { text } from "../text.ts";
import type { Delivery, Webhook } from "../types.ts";

const TONES = { queued: "accent", delivered: "success", failed: "danger" } as const;

/** The past and pending deliveries of a webhook, newest first. */
export function DeliveriesDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const [page, setPage] = useState(1);
  const query = useQuery({
    queryKey: keys.admin("deliveries", webhook.id, page),
    queryFn: ({ signal }) =>
      request<{ deliveries: readonly Delivery[]; pagination: Pagination }>(
        "GET",
        `/api/webhooks/${webhook.id}/deliveries`,
        {
          query: { page },
          signal,
        },
      ),
  });
  return (
    <Dialog open size="large" onClose={onClose} title={text.deliveriesTitle} description={webhook.url}>
      <Loaded query={query}>
        {({ deliveries, pagination }) =>
          deliveries.length === 0 ? (
            <p className="text-sm text-muted">{text.noDeliveries}</p>
          ) : (
            <>
              <DataTable caption={text.deliveries} columns={columns()} rows={deliveries} rowKey={({ id }) => id} />
              <Pager pagination={pagination} onPage={setPage} />
            </>
          )
        }
      </Loaded>
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
