import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { href } from "../../base/address.ts";
import { useTextSearch } from "../../base/search-params.ts";
import { afterSignIn, loadSession, sessionState, useSessionState } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { CopyField } from "../../ui/copy-field.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { useSignInMethods } from "../../api/sign-in.ts";
import { SignInLayout } from "../../ui/sign-in-layout.tsx";
import { safeNext } from "./next-address.ts";
import { SignInForm } from "./sign-in-form.tsx";
import { text } from "./text.ts";
import { Loaded } from "../../ui/loaded.tsx";

/** `/sign-in?next=…`: signs in and goes to the requested page. */
export function SignInPage() {
  const next = safeNext(useTextSearch()["next"]);
  const methods = useSignInMethods();
  const session = useSessionState();
  const navigate = useNavigate();
  useEffect(() => {
    // Somebody with a bookmark may be signed in already. If that can't be checked, the form shows the error.
    if (sessionState().status === "unknown") loadSession().catch(() => undefined);
  }, []);
  const isIn = session.status === "signed-in" && !session.isLost;
  useEffect(() => {
    if (isIn) void navigate({ href: next, replace: true });
  }, [isIn, next, navigate]);

  if (methods.data?.isSetUp === false) {
    return <NotSetUp onRetry={() => void methods.refetch()} isBusy={methods.isFetching} />;
  }
  return (
    <SignInLayout title={text.title}>
      <Loaded query={methods}>
        {({ signup }) => (
          <>
            <SignInForm returnTo={href(next)} onDone={() => void afterSignIn()} />
            {signup === "open" && (
              <p className="text-center text-sm text-muted">
                {text.noAccount}{" "}
                <a className="inline-block py-1 font-medium text-accent underline" href={href("/sign-up")}>
                  {text.signUp}
                </a>
              </p>
            )}
            {signup === "invite" && <p className="text-center text-sm text-muted">{text.inviteOnly}</p>}
          </>
        )}
      </Loaded>
    </SignInLayout>
  );
}

/** No account exists yet: explains where to find the link that creates the first one. */
function NotSetUp({ onRetry, isBusy }: { onRetry(): void; isBusy: boolean }) {
  return (
    <SignInLayout title={text.notSetUp} lead={text.notSetUpLead}>
      <p className="text-sm">{text.notSetUpOutput}</p>
      <CopyField label={text.notSetUpCommand} value="larder user setup-link" />
      <div className="flex flex-wrap gap-2">
        <Button variant="primary" onClick={onRetry} busy={isBusy}>
          {text.continueToSignIn}
        </Button>
        <LinkButton href={href("/docs")} variant="quiet">
          {text.documentation}
        </LinkButton>
      </div>
    </SignInLayout>
  );
}
