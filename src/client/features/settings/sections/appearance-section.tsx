import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { chooseAvailable, LANGUAGES } from "../../../../translations/languages.ts";
import { messageOf } from "../../../api/http.ts";
import { basePath } from "../../../base/address.ts";
import { setTheme, THEMES, useTheme } from "../../../base/theme.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { setStartPage, START_PAGES, type StartPage, startPage } from "../../../base/start-page.ts";
import { readStored, writeStored } from "../../../base/stored.ts";
import { useViewPreferences } from "../../../entries/preferences.ts";
import { type AccountSettings, useChangeSettings, useResource } from "../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import { Form } from "../../../ui/form.tsx";

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Theme, language and view. */
export function AppearanceSection() {
  const settings = useResource("settings");
  return (
    <>
      <ThemeCard />
      <StartPageCard />
      <LanguageCard />
      <Loaded query={settings}>{(data) => <FilesCard settings={data} />}</Loaded>
    </>
  );
}

function ThemeCard() {
  const theme = useTheme();
  return (
    <Card title={text.theme} description={text.themeLead}>
      <RadioGroup
        label={text.theme}
        isLabelHidden
        value={theme}
        onChange={setTheme}
        options={THEMES.map((value) => ({ value, label: text.themeName(value) }))}
      />
    </Card>
  );
}

function StartPageCard() {
  const [page, setPage] = useState(startPage());
  const choose = (chosen: StartPage) => {
    setPage(chosen);
    setStartPage(chosen);
  };
  return (
    <Card title={text.startPage} description={text.startPageLead}>
      <RadioGroup
        label={text.startPage}
        isLabelHidden
        value={page}
        onChange={choose}
        options={START_PAGES.map((value) => ({ value, label: text.startPageName(value) }))}
      />
    </Card>
  );
}

function LanguageCard() {
  const [language, setLanguage] = useState(readStored("locale") ?? "");
  const change = useChangeSettings();
  const save = useMutation({
    mutationFn: (tag: string) => change({ language: tag === "" ? chooseAvailable(navigator.languages) : tag }),
    onSuccess: (_, tag) => {
      writeStored("locale", tag === "" ? undefined : tag);
      writeLanguageCookie(tag);
      // Text is looked up once, before the first render.
      window.location.reload();
    },
    onError: (error) => {
      setLanguage(readStored("locale") ?? "");
      toast({ text: messageOf(error), tone: "danger", id: "settings" });
    },
  });
  const choose = (tag: string) => {
    setLanguage(tag);
    save.mutate(tag);
  };
  return (
    <Card title={text.language} description={text.languageLead}>
      <Select
        className="max-w-xs"
        label={text.language}
        isLabelHidden
        value={language}
        onChange={choose}
        options={[
          { value: "", label: text.languageOfBrowser },
          ...LANGUAGES.map(({ tag, name }) => ({ value: tag, label: name })),
        ]}
      />
    </Card>
  );
}

/** Stores the language of the pages of the server. @param tag empty to follow the browser */
function writeLanguageCookie(tag: string): void {
  const isSecure = window.location.protocol === "https:";
  const attributes = `Path=${basePath() || "/"}; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  // oxlint-disable-next-line unicorn/no-document-cookie -- browsers offer the other way only over HTTPS
  document.cookie = `larder_language=${tag}; ${attributes}; Max-Age=${tag === "" ? 0 : YEAR_SECONDS}`;
}

function FilesCard({ settings }: { settings: AccountSettings }) {
  const save = useMutation({
    mutationFn: useChangeSettings(),
    onSuccess: () => toast({ text: text.saved, tone: "success", id: "settings" }),
    onError: (error) => toast({ text: messageOf(error), tone: "danger", id: "settings" }),
  });
  const [view, changeView] = useViewPreferences();
  const [keep, setKeep] = useState(String(settings.versioning.keep));
  const count = Number(keep);
  const isCount = Number.isInteger(count) && count >= 1 && count <= 100;
  return (
    <Card title={text.files} description={text.filesLead}>
      <div className="flex max-w-xs flex-col gap-4">
        <Select
          label={text.layout}
          value={view.layout}
          onChange={(layout) => changeView({ layout })}
          options={[
            { value: "list", label: text.layoutList },
            { value: "tiles", label: text.layoutTiles },
          ]}
        />
        <Select
          label={text.density}
          value={view.density}
          onChange={(density) => changeView({ density })}
          options={[
            { value: "comfortable", label: text.comfortable },
            { value: "compact", label: text.compact },
          ]}
        />
        <Form
          noValidate
          className="flex flex-col items-start gap-3"
          onSubmit={() => isCount && save.mutate({ versioning: { keep: count } })}
        >
          <TextField
            className="w-full"
            label={text.keepVersions}
            hint={text.keepVersionsHint}
            type="number"
            min={1}
            max={100}
            value={keep}
            onChange={setKeep}
            error={isCount ? undefined : text.keepVersionsWrong}
          />
          <Button type="submit" disabled={!isCount || count === settings.versioning.keep}>
            {text.save}
          </Button>
        </Form>
      </div>
    </Card>
  );
}
