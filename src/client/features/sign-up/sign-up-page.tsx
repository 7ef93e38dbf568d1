import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { href } from "../../base/address.ts";
import { useTextSearch } from "../../base/search-params.ts";
import { afterSignIn, useSessionState } from "../../api/session.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { useSignInMethods } from "../../api/sign-in.ts";
import { SignInLayout } from "../../ui/sign-in-layout.tsx";
import { SignUpForm } from "./sign-up-form.tsx";
import { text } from "./text.ts";
import { Loaded } from "../../ui/loaded.tsx";

/** `/sign-up?invite=…`: creates an account, if this server allows it. */
export function SignUpPage() {
  const { invite = "" } = useTextSearch();
  const methods = useSignInMethods();
  const session = useSessionState();
  const navigate = useNavigate();
  const isIn = session.status === "signed-in";
  useEffect(() => {
    if (isIn) void navigate({ to: "/", replace: true });
  }, [isIn, navigate]);

  if (methods.data?.signup === "closed" || methods.data?.isSetUp === false) {
    return (
      <SignInLayout title={text.closed} lead={text.closedLead}>
        <LinkButton href={href("/sign-in")} variant="primary">
          {text.signIn}
        </LinkButton>
      </SignInLayout>
    );
  }
  return (
    <SignInLayout title={text.title}>
      <Loaded query={methods}>
        {({ signup }) => (
          <>
            <SignUpForm
              asksInvite={signup === "invite" || invite !== ""}
              invite={invite}
              onDone={() => void afterSignIn()}
            />
            <p className="text-center text-sm text-muted">
              {text.haveAccount}{" "}
              <a className="inline-block py-1 font-medium text-accent underline" href={href("/sign-in")}>
                {text.signIn}
              </a>
            </p>
          </>
        )}
      </Loaded>
    </SignInLayout>
  );
}
