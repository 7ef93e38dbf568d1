import { KeyRound } from "lucide-react";
import { useId, useState } from "react";
import { useSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { useRefresh, useServerAddress } from "../api.ts";
import { AppPasswordsCard } from "../connect/app-passwords-card.tsx";
import { FAMILIES, type Family } from "../connect/families.ts";
import { AddressNotice, ConnectionFields, Steps } from "../connect/guide.tsx";
import { NewAppPasswordDialog } from "../connect/new-app-password-dialog.tsx";
import { text } from "../connect/text.ts";

const KINDS = ["phone", "computer", "program"] as const;

/** How to connect phones, computers and programs, and the app passwords that they use. */
export function ConnectSection() {
  const [kind, setKind] = useState<Family["kind"]>("phone");
  return (
    <>
      <Card title={text.title} description={text.lead}>
        <Tabs
          label={text.kinds}
          value={kind}
          onChange={setKind}
          tabs={KINDS.map((value) => ({ value, label: text.kind(value), content: <Kind kind={value} /> }))}
        />
      </Card>
      <AppPasswordsCard />
    </>
  );
}

/** The families of one kind, and how to set up the chosen one. */
function Kind({ kind }: { readonly kind: Family["kind"] }) {
  const families = FAMILIES.filter((each) => each.kind === kind);
  const [chosen, setChosen] = useState(families[0]?.name);
  const family = families.find(({ name }) => name === chosen);
  if (family === undefined) return null;
  return (
    <div className="grid gap-6 md:grid-cols-[15rem_minmax(0,1fr)]">
      <RadioGroup
        label={text.families}
        isLabelHidden
        value={family.name}
        onChange={setChosen}
        options={families.map(({ name }) => ({ value: name, label: text.family(name), hint: text.familyHint(name) }))}
      />
      <Guide key={family.name} family={family} />
    </div>
  );
}

/** What to enter where, for one family of programs. */
function Guide({ family }: { readonly family: Family }) {
  const { email } = useSession().user;
  const refresh = useRefresh();
  const server = useServerAddress();
  const [isCreating, setCreating] = useState(false);
  const headingId = useId();
  return (
    <section aria-labelledby={headingId} className="flex min-w-0 flex-col gap-4">
      <h3 id={headingId} className="font-semibold">
        {text.setUp({ family: text.family(family.name) })}
      </h3>
      <Loaded query={server}>
        {(address) => (
          <>
            <AddressNotice server={address} />
            <Steps family={family} />
            <ConnectionFields family={family} username={email} server={address} />
          </>
        )}
      </Loaded>
      <div>
        <Button variant="primary" icon={KeyRound} onClick={() => setCreating(true)}>
          {text.newPassword}
        </Button>
      </div>
      {isCreating && (
        <NewAppPasswordDialog
          family={family}
          onCreated={() => void refresh("appPasswords")}
          onClose={() => setCreating(false)}
        />
      )}
    </section>
  );
}
