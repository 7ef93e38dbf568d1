import { Component, type ReactNode, Suspense } from "react";
import { OfflineError } from "../api/http.ts";
import { ErrorState } from "../ui/error-state.tsx";
import { retryFailedParts } from "../ui/lazy-part.ts";
import { Spinner } from "../ui/spinner.tsx";
import { frameText } from "./text.ts";

interface Props {
  /** Where the page is, or how things stand: with another one, a failure is forgotten. */
  readonly address: string;
  readonly children: ReactNode;
}

interface State {
  readonly address: string;
  readonly error: unknown;
}

/** Keeps the frame standing where a page fails, and says so in its place. */
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
        <ErrorState
          error={error}
          onRetry={() => {
            retryFailedParts();
            this.setState({ error: undefined });
          }}
        />
      </div>
    );
  }
}

interface PartProps extends Props {
  readonly onFailed: (error: unknown) => void;
  /** How long after a failure by the line it is tried again by itself; not at all without it. */
  readonly retryMs?: number;
}

/** Keeps the page where a part beside it fails (a dialog, the upload tray), and leaves that part out. */
export class PartBoundary extends Component<PartProps, State> {
  override state: State = { address: this.props.address, error: undefined };
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  static getDerivedStateFromError = PageBoundary.getDerivedStateFromError;

  static getDerivedStateFromProps = PageBoundary.getDerivedStateFromProps;

  override componentDidCatch(error: unknown): void {
    // The next time it is shown, it is asked for again.
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

/** While the page's script is on its way. */
export function PageSpinner() {
  return (
    <div className="flex justify-center py-24 text-muted">
      <Spinner size={28} />
    </div>
  );
}
