import { planName } from "../../../base/plan-names.ts";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import type { User } from "../../../api/types.ts";
import { loadSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { formatDate } from "../../../base/format.ts";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { errorAt, readRejection } from "../../../api/rejection.ts";
import { useRefresh, useResource } from "../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import { GuestNameCard } from "./guest-name-card.tsx";
import { OwnPicture } from "./picture-card.tsx";
import { Form } from "../../../ui/form.tsx";
import { FormRejection } from "../../../ui/rejection-message.tsx";

/** Name, email, role and plan. */
export function ProfileSection() {
  const profile = useResource("profile");
  return (
    <Loaded query={profile}>
      {(data) => (
        <>
          <Card title={text.you}>
            <div className="flex flex-col gap-4">
              <OwnPicture profile={data} />
              <DescriptionList
                items={[
                  [text.role, text.roleName(data.role)],
                  [text.plan, planName(data.plan)],
                  [text.memberSince, formatDate(data.createdAt)],
                ]}
              />
            </div>
          </Card>
          <NameForm profile={data} />
          <GuestNameCard />
          <EmailForm profile={data} />
        </>
      )}
    </Loaded>
  );
}

function NameForm({ profile }: { profile: User }) {
  return (
    <ProfileField
      field="name"
      value={profile.name}
      title={text.name}
      description={text.nameLead}
      label={text.yourName}
      action={text.save}
      done={text.saved}
    />
  );
}

function EmailForm({ profile }: { profile: User }) {
  return (
    <ProfileField
      field="email"
      type="email"
      value={profile.email}
      title={text.email}
      description={text.emailLead}
      label={text.emailAddress}
      action={text.changeEmail}
      done={text.emailChanged}
    />
  );
}

/** A card with a form that changes one field of the profile. */
function ProfileField(props: {
  field: "name" | "email";
  type?: "email";
  value: string;
  title: string;
  description: string;
  label: string;
  action: string;
  done: string;
}) {
  const { field } = props;
  const [typed, setTyped] = useState(props.value);
  const refresh = useRefresh();
  const save = useMutation({
    mutationFn: () => request("PUT", "/api/users/profile", { body: { [field]: typed.trim() } }),
    onSuccess: async () => {
      toast({ text: props.done, tone: "success" });
      await Promise.all([refresh("profile"), loadSession()]);
    },
  });
  const rejection = readRejection(save.error, [field], { email_taken: field });
  return (
    <Card title={props.title} description={props.description}>
      <Form noValidate onSubmit={save.mutate} className="flex max-w-md flex-col items-start gap-4">
        <FormRejection rejection={rejection} />
        <TextField
          className="w-full"
          label={props.label}
          type={props.type ?? "text"}
          value={typed}
          onChange={setTyped}
          error={errorAt(rejection, field)}
          autoComplete={field}
        />
        <Button type="submit" variant="primary" busy={save.isPending} disabled={typed.trim() === props.value}>
          {props.action}
        </Button>
      </Form>
    </Card>
  );
}
