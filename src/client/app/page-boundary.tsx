import { Component, type ReactNode, Suspense } from "react";
import { OfflineError } from "../api/http.ts";
import { retryFailedParts } from "../ui/lazy-part.ts";
import { Spinner } from "../ui/spinner.tsx";
import { PageFailure } from "./page-failure.tsx";
import { frameText } from "./text.ts";

interface Props {
  /** The address of the page. When it changes, the error is cleared. */
  readonly address: string;
  readonly children: ReactNode;
}

interface State {
  readonly address: string;
  readonly error: unknown;
}

/** Error boundary of a page: the frame stays and shows the error in place of the page. */
export class PageBoundary extends Component<Props, State> {
  override state: State = { address: this.props.address, error: undefined };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error };
  }

  static getDerivedStateFromProps({ address }: Props, state: State): State | null {
    return address === state.address ? null : { address, error: undefined };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return <Suspense fallback={<PageSpinner />}>{this.props.children}</Suspense>;
    return (
      <div className="p-4">
        <h1 className="sr-only">{frameText.pageFailed}</h1>
        <PageFailure error={error} onRetry={() => this.setState({ error: undefined })} />
      </div>
    );
  }
}

interface PartProps extends Props {
  readonly onFailed: (error: unknown) => void;
  /** How long after a network failure the part is loaded again automatically. Without it, never. */
  readonly retryMs?: number;
}

/** Error boundary of an optional part such as a dialog or the upload tray: the page stays and the part is left out. */
export class PartBoundary extends Component<PartProps, State> {
  override state: State = { address: this.props.address, error: undefined };
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  static getDerivedStateFromError = PageBoundary.getDerivedStateFromError;

  static getDerivedStateFromProps = PageBoundary.getDerivedStateFromProps;

  override componentDidCatch(error: unknown): void {
    // Lets the part load again when it is next shown.
    retryFailedParts();
    this.props.onFailed(error);
    const { retryMs } = this.props;
    if (retryMs === undefined || !(error instanceof OfflineError)) return;
    this.#retryTimer = setTimeout(() => this.setState({ error: undefined }), retryMs);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.#retryTimer);
  }

  override render(): ReactNode {
    if (this.state.error !== undefined) return null;
    return <Suspense fallback={null}>{this.props.children}</Suspense>;
  }
}

/** Shown while the page's script is loading. */
export function PageSpinner() {
  return (
    <div className="flex justify-center py-24 text-muted">
      <Spinner size={28} />
    </div>
  );
}
