import { useMutation, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { ApiError, request } from "../../api/http.ts";
import { errorAt, readRejection } from "../../api/rejection.ts";
import { signOut, useSession } from "../../api/session.ts";
import { findAgentName } from "../../base/user-agent.ts";
import { currentAddress, href } from "../../base/address.ts";
import { formatDateTime, formatRelative } from "../../base/format.ts";
import {
  AccessFields,
  accessFields,
  lacksFolder,
  useProgramAccess,
  type ProgramAccess,
} from "../../entries/dialogs/access-fields.tsx";
import { Button } from "../../ui/button.tsx";
import { DescriptionList } from "../../ui/description-list.tsx";
import { Form } from "../../ui/form.tsx";
import { TriangleAlert } from "../../ui/icons.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { FormRejection } from "../../ui/rejection-message.tsx";
import { SignInLayout } from "../../ui/sign-in-layout.tsx";
import { showError } from "../../ui/toast.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useRetryWait } from "../../ui/use-retry-wait.ts";
import { text } from "./text.ts";

/** The maximum length of the name of an app password. */
const NAME_LENGTH_MAX = 100;

/** The start of the addresses that open a program of the older login flow. */
const PROGRAM_ADDRESS = "nc://login/";

/** A program that asks for access: `GET /api/users/login-flows/{token}`. */
type LoginFlow = ResponseData["GET /api/users/login-flows/{token}"];

/** How the request ended. `redirect` opens the program, if the flow is the older one. */
type Outcome =
  | { readonly is: "allowed"; readonly name: string; readonly redirect?: string }
  | { readonly is: "denied" };

/** `/connect/$token`: asks the person whether a program may have access to their files. */
export function ConnectPage() {
  const { token = "" } = useParams({ strict: false });
  const path = `/api/users/login-flows/${encodeURIComponent(token)}` as const;
  const [outcome, setOutcome] = useState<Outcome>();
  const flow = useQuery({
    queryKey: ["login-flow", token],
    queryFn: ({ signal }) => request<LoginFlow>("GET", path, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (outcome !== undefined) return <Result outcome={outcome} />;
  if (isGone(flow.error)) return <Gone />;
  return (
    <SignInLayout title={text.title}>
      <Loaded query={flow}>{(data) => <DecisionForm flow={data} path={path} onOutcome={setOutcome} />}</Loaded>
    </SignInLayout>
  );
}

function DecisionForm({
  flow,
  path,
  onOutcome,
}: {
  readonly flow: LoginFlow;
  readonly path: `/api/${string}`;
  readonly onOutcome: (outcome: Outcome) => void;
}) {
  const program = findAgentName(flow.program) ?? flow.program;
  const [name, setName] = useState(program.slice(0, NAME_LENGTH_MAX));
  const [access, setAccess] = useProgramAccess();
  const { allow, deny } = useDecision(path, onOutcome);
  const error = allow.error ?? deny.error;
  const wait = useRetryWait(error);
  if (isGone(error)) return <GoneNotice />;
  const rejection = readRejection(error, ["name"]);
  const submit = () => {
    const isBusy = allow.isPending || deny.isPending;
    if (!isBusy && wait.secondsLeft === 0) allow.mutate({ name: name.trim(), access });
  };
  return (
    <Form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <About flow={flow} program={program} />
      <FormRejection rejection={rejection} wait={wait} />
      <TextField
        label={text.name}
        hint={text.nameHint}
        value={name}
        onChange={setName}
        error={errorAt(rejection, "name")}
        maxLength={NAME_LENGTH_MAX}
      />
      <fieldset>
        <legend className="mb-1 text-sm font-medium">{text.access}</legend>
        <AccessFields value={access} onChange={setAccess} />
      </fieldset>
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          variant="primary"
          size="large"
          className="flex-1"
          busy={allow.isPending}
          disabled={name.trim() === "" || lacksFolder(access) || wait.secondsLeft > 0}
        >
          {text.allow}
        </Button>
        <Button size="large" className="flex-1" busy={deny.isPending} onClick={() => deny.mutate()}>
          {text.deny}
        </Button>
      </div>
    </Form>
  );
}

/** Sends the decision of the person, either of which ends the request. */
function useDecision(path: `/api/${string}`, onOutcome: (outcome: Outcome) => void) {
  const allow = useMutation({
    mutationFn: ({ name, access }: { name: string; access: ProgramAccess }) =>
      request<ResponseData["POST /api/users/login-flows/{token}"]>("POST", path, {
        body: { name, ...accessFields(access) },
      }),
    onSuccess: ({ redirect }, { name }) => {
      const opens = redirect?.startsWith(PROGRAM_ADDRESS) === true;
      onOutcome({ is: "allowed", name, ...(opens && { redirect }) });
      if (opens) window.location.assign(redirect);
    },
    // The address of the program contains its password, so it must not stay in memory.
    gcTime: 0,
  });
  const deny = useMutation({
    mutationFn: () => request("DELETE", path),
    onSuccess: () => onOutcome({ is: "denied" }),
  });
  return { allow, deny };
}

/** Who asks, from where and when, with a warning. */
function About({ flow, program }: { readonly flow: LoginFlow; readonly program: string }) {
  return (
    <>
      <p className="wrap-anywhere">{text.lead({ program })}</p>
      <div className="flex gap-3 rounded-lg border border-danger bg-danger-soft px-3 py-2.5 text-sm">
        <TriangleAlert aria-hidden className="mt-0.5 size-5 shrink-0 text-danger" />
        <p>
          <strong>{text.warning}</strong> {text.warningLead}
        </p>
      </div>
      <DescriptionList
        items={[
          [text.account, <AccountName key="account" />],
          [text.program, flow.program],
          [text.address, flow.address],
          [text.time, `${formatDateTime(flow.createdAt)} (${formatRelative(flow.createdAt)})`],
          [text.expires, formatRelative(flow.expiresAt)],
        ]}
      />
    </>
  );
}

/** The account that the program would open, with a way to another one: several people can share a browser. */
function AccountName() {
  const { email } = useSession().user;
  const change = useMutation({ mutationFn: () => signOut(currentAddress()), onError: showError });
  return (
    <>
      {email}{" "}
      <button
        type="button"
        disabled={change.isPending}
        onClick={() => change.mutate()}
        className="min-h-6 text-accent underline"
      >
        {text.otherAccount}
      </button>
    </>
  );
}

function Result({ outcome }: { readonly outcome: Outcome }) {
  if (outcome.is === "denied") {
    return (
      <SignInLayout title={text.denied} lead={text.deniedLead}>
        <ToDevices />
      </SignInLayout>
    );
  }
  return (
    <SignInLayout title={text.allowed} lead={text.allowedLead({ name: outcome.name })}>
      {outcome.redirect !== undefined && (
        <LinkButton variant="primary" href={outcome.redirect}>
          {text.openProgram}
        </LinkButton>
      )}
      <ToDevices />
    </SignInLayout>
  );
}

function Gone() {
  return (
    <SignInLayout title={text.gone}>
      <GoneNotice />
    </SignInLayout>
  );
}

function GoneNotice() {
  return (
    <>
      <p role="alert" className="text-muted">
        {text.goneLead}
      </p>
      <LinkButton href={href("/files")}>{text.toFiles}</LinkButton>
    </>
  );
}

function ToDevices() {
  return <LinkButton href={href("/settings/devices")}>{text.toDevices}</LinkButton>;
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
