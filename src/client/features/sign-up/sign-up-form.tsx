import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/http.ts";
import { Button } from "../../ui/button.tsx";
import { PasswordField } from "../../ui/password-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { errorAt, readRejection } from "../../api/rejection.ts";
import { useRetryWait } from "../../ui/use-retry-wait.ts";
import { inviteCodeOf } from "./invite-code.ts";
import { PasswordStrength } from "../../ui/password-strength.tsx";
import { text } from "./text.ts";
import { Form } from "../../ui/form.tsx";
import { FormRejection } from "../../ui/rejection-message.tsx";

type Field = "email" | "name" | "password" | "invite";

/**
 * Creates an account and signs this browser in.
 * @param asksInvite whether an invitation is required
 * @param invite the code from the address
 */
export function SignUpForm(props: { asksInvite: boolean; invite: string; onDone(): void }) {
  const [form, setForm] = useState({ email: "", name: "", password: "", invite: props.invite });
  const [missing, setMissing] = useState<Field>();
  const send = useMutation({ mutationFn: () => signUp(form), onSuccess: props.onDone });
  const wait = useRetryWait(send.error);
  const rejection = readRejection<Field>(send.error, ["email", "name", "password"], { email_taken: "email" });
  const set = (field: Field) => (value: string) => setForm({ ...form, [field]: value });
  const submit = () => {
    const missingField = findMissingField(form, props.asksInvite);
    setMissing(missingField);
    if (missingField === undefined && wait.secondsLeft === 0) send.mutate();
  };
  const errorOf = (field: Field, message: string) => (missing === field ? message : errorAt(rejection, field));
  return (
    <Form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <FormRejection rejection={rejection} wait={wait} />
      {props.asksInvite && (
        <TextField
          label={text.invite}
          hint={text.inviteHint}
          value={form.invite}
          onChange={set("invite")}
          error={errorOf("invite", text.inviteMissing)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <TextField
        label={text.email}
        type="email"
        value={form.email}
        onChange={set("email")}
        error={errorOf("email", text.emailMissing)}
        autoComplete="username"
      />
      <TextField
        label={text.name}
        hint={text.nameHint}
        value={form.name}
        onChange={set("name")}
        error={errorAt(rejection, "name")}
        autoComplete="name"
      />
      <div className="flex flex-col gap-2">
        <PasswordField
          label={text.password}
          value={form.password}
          onChange={set("password")}
          error={errorOf("password", text.passwordShort)}
          autoComplete="new-password"
        />
        <PasswordStrength password={form.password} />
      </div>
      <Button type="submit" variant="primary" size="large" busy={send.isPending} disabled={wait.secondsLeft > 0}>
        {text.submit}
      </Button>
    </Form>
  );
}

async function signUp(form: Readonly<Record<Field, string>>): Promise<void> {
  const name = form.name.trim();
  const invite = inviteCodeOf(form.invite);
  const body = {
    email: form.email.trim(),
    password: form.password,
    cookie: true,
    ...(name !== "" && { name }),
    ...(invite !== "" && { invite }),
  };
  await request("POST", "/api/auth/signup", { body });
}

function findMissingField(form: Readonly<Record<Field, string>>, asksInvite: boolean): Field | undefined {
  if (asksInvite && inviteCodeOf(form.invite) === "") return "invite";
  if (form.email.trim() === "") return "email";
  return [...form.password].length < 8 ? "password" : undefined;
}
