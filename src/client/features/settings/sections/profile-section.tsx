import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { request } from "../../../api/http.ts";
import type { User } from "../../../api/types.ts";
import { loadSession } from "../../../api/session.ts";
import { Avatar } from "../../../ui/avatar.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { formatDate } from "../../../base/format.ts";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { errorAt, readRejection } from "../../../api/rejection.ts";
import { useRefresh, useResource } from "../api.ts";
import { Loaded } from "../loaded.tsx";
import { text } from "../text.ts";

/** Name, email, role and plan. */
export function ProfileSection() {
  const profile = useResource("profile");
  return (
    <Loaded query={profile}>
      {(data) => (
        <>
          <Card title={text.you}>
            <div className="flex flex-wrap items-center gap-4">
              <Avatar name={data.name || data.email} size={56} />
              <Facts
                facts={[
                  [text.role, text.roleName(data.role)],
                  [text.plan, data.plan],
                  [text.memberSince, formatDate(data.createdAt)],
                ]}
              />
            </div>
          </Card>
          <NameForm profile={data} />
          <EmailForm profile={data} />
        </>
      )}
    </Loaded>
  );
}

function NameForm({ profile }: { profile: User }) {
  const [name, setName] = useState(profile.name);
  const refresh = useRefresh();
  const save = useMutation({
    mutationFn: () => request("PUT", "/api/users/profile", { body: { name: name.trim() } }),
    onSuccess: async () => {
      toast({ text: text.saved, tone: "success" });
      await Promise.all([refresh("profile"), loadSession()]);
    },
  });
  const rejection = readRejection(save.error, ["name"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Card title={text.name} description={text.nameLead}>
      <form onSubmit={submit} noValidate className="flex max-w-md flex-col items-start gap-4">
        {rejection !== undefined && rejection.field === undefined && <Notice tone="danger">{rejection.message}</Notice>}
        <div className="w-full">
          <TextField
            label={text.yourName}
            value={name}
            onChange={setName}
            error={errorAt(rejection, "name")}
            autoComplete="name"
          />
        </div>
        <Button type="submit" variant="primary" busy={save.isPending} disabled={name.trim() === profile.name}>
          {text.save}
        </Button>
      </form>
    </Card>
  );
}

function EmailForm({ profile }: { profile: User }) {
  const [email, setEmail] = useState(profile.email);
  const refresh = useRefresh();
  const isChanged = email.trim() !== profile.email;
  const save = useMutation({
    mutationFn: () => request("PUT", "/api/users/profile", { body: { email: email.trim() } }),
    onSuccess: async () => {
      toast({ text: text.emailChanged, tone: "success" });
      await Promise.all([refresh("profile"), loadSession()]);
    },
  });
  const rejection = readRejection(save.error, ["email"], { email_taken: "email" });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Card title={text.email} description={text.emailLead}>
      <form onSubmit={submit} noValidate className="flex max-w-md flex-col items-start gap-4">
        {rejection !== undefined && rejection.field === undefined && <Notice tone="danger">{rejection.message}</Notice>}
        <div className="w-full">
          <TextField
            label={text.emailAddress}
            type="email"
            value={email}
            onChange={setEmail}
            error={errorAt(rejection, "email")}
            autoComplete="email"
          />
        </div>
        <Button type="submit" variant="primary" busy={save.isPending} disabled={!isChanged}>
          {text.changeEmail}
        </Button>
      </form>
    </Card>
  );
}
