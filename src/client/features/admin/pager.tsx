import { ChevronLeft } from "lucide-react";
import { ChevronRight } from "../../ui/icons.ts";
import type { Pagination } from "../../api/types.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { text } from "./text.ts";

/** Buttons for the previous and the next page of a list. */
export function Pager({
  pagination: { page, total, totalPages, hasNext, hasPrev },
  onPage,
}: {
  readonly pagination: Pagination;
  readonly onPage: (page: number) => void;
}) {
  return (
    <nav aria-label={text.pages} className="flex items-center justify-between gap-4 pt-3 text-sm text-muted">
      <span>{text.results({ n: total })}</span>
      {totalPages > 1 && (
        <span className="flex items-center gap-1">
          <IconButton
            label={text.previousPage}
            icon={ChevronLeft}
            className="rtl:rotate-180"
            disabled={!hasPrev}
            onClick={() => onPage(page - 1)}
          />
          {text.pageOf({ page, pages: totalPages })}
          <IconButton
            label={text.nextPage}
            icon={ChevronRight}
            className="rtl:rotate-180"
            disabled={!hasNext}
            onClick={() => onPage(page + 1)}
          />
        </span>
      )}
    </nav>
  );
}
