import { useSignInMethods } from "../../../api/sign-in.ts";
import { IdentitiesCard } from "../security/identities-card.tsx";
import { PasskeysCard } from "../security/passkeys-card.tsx";
import { PasswordCard } from "../security/password-card.tsx";
import { TwoFactorCard } from "../security/two-factor-card.tsx";

/** The sign-in methods: password, two-factor authentication, passkeys, other providers. */
export function SecuritySection() {
  const methods = useSignInMethods();
  return (
    <>
      <PasswordCard />
      <TwoFactorCard />
      <PasskeysCard isOffered={methods.data?.passkeys ?? true} />
      {methods.data?.oidc && <IdentitiesCard providerName={methods.data.oidc.name} />}
    </>
  );
}
