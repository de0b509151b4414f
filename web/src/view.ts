// What the views share: a form beside its answer, the link that follows the form, one question at a time.
import { list as entries } from "./api";
import { failure, fields, h, type Child, type Field, type Interval, type Values } from "./ui";

export type Go = (values: Values) => void;
/// Draws a view; what it returns is called when the view is left.
export type Show = (into: HTMLElement, values: Values, go: Go) => (() => void) | void;

export interface Bench {
  into: HTMLElement; values: Values; go: Go;
  title: string; lede: string;
  list: Field[] | ((values: Values) => Field[]); defaults: Values;
  /// Live questions wait for the last answer and then ask with the newest values; others end the last one.
  live?: boolean;
  button?: string;
  /// Changes of these keys make the form anew.
  reform?: string[];
  /// `told` hears how far long work is, 0 to 1.
  ask: (values: Values, signal: AbortSignal, told: (share: number) => void) => Promise<() => void>;
}

/// A form on the left, what `ask` shows on the right. Returns where to show it, where more of the question can stand, and
/// a way to ask again; `anew` makes the form again too.
export function bench(o: Bench): { out: HTMLElement; question: HTMLElement; again: (change?: Values, anew?: boolean) => void; leave: () => void } {
  let state: Values = { ...o.defaults, ...o.values };
  const out = h("div", { class: "answer" });
  const status = h("p", { class: "busy", role: "status" });
  const trouble = h("div");
  const holder = h("div");
  const above = h("div");
  let current: AbortController | null = null;
  let asked: Values | null = null;
  let gone = false;

  const run = async (values: Values) => {
    const mine = (current = new AbortController());
    const bar = h("progress", { max: 1, "aria-label": "how far it is", hidden: true }) as HTMLProgressElement, share = h("span", { class: "value" });
    const late = setTimeout(() => { if (current === mine) status.replaceChildren("Working… ", bar, share, " ", h("button", { type: "button", onclick: () => mine.abort() }, "Cancel")); }, 250);
    const told = (done: number) => { if (done > 0) { bar.hidden = false; bar.value = done; share.textContent = ` ${Math.floor(100 * done)} %`; } };
    out.setAttribute("aria-busy", "true");
    try {
      const draw = await o.ask(values, mine.signal, told);
      if (current === mine && !gone) { trouble.replaceChildren(); out.hidden = false; draw(); }
    } catch (error) {
      if (current === mine && !gone) { trouble.replaceChildren(failure((error as Error)?.name === "AbortError" ? { message: "ended" } : error)); out.hidden = true; }
    }
    clearTimeout(late);
    if (current !== mine) return;
    current = null;
    status.replaceChildren();
    out.removeAttribute("aria-busy");
    if (asked && !gone) { const next = asked; asked = null; void run(next); }
  };
  const question = () => {
    if (current && o.live) { asked = { ...state }; return; }
    current?.abort();
    void run({ ...state });
  };
  const link = () => o.go(Object.fromEntries(Object.entries(state).filter(([k, v]) => v !== (o.defaults[k] ?? ""))));
  const form = () => {
    const made = fields(typeof o.list === "function" ? o.list(state) : o.list, state, (v) => {
      const anew = o.reform?.some((k) => v[k] !== state[k]);
      state = { ...state, ...v };
      link();
      if (anew) form();
      question();
    });
    if (o.button) made.append(h("button", { type: "submit", class: "primary" }, o.button));
    made.addEventListener("submit", question);
    holder.replaceChildren(made);
  };
  form();
  o.into.append(h("h1", {}, o.title), h("p", { class: "lede" }, o.lede),
    h("div", { class: "split" }, h("section", { "aria-label": "Question" }, h("details", { class: "question", open: o.live || o.button === "Check" || !matchMedia("(max-width: 800px)").matches }, h("summary", {}, "Question"), above, holder)), h("section", { "aria-label": "Answer" }, status, trouble, out)), offers());
  question();
  return {
    out,
    question: above,
    again: (change = {}, anew = false) => { state = { ...state, ...change }; link(); if (anew) form(); question(); },
    leave: () => { gone = true; current?.abort(); },
  };
}

/// The names that text fields offer: of models and of devices.
function offers(): HTMLElement {
  const holder = h("div", { hidden: true });
  for (const kind of ["models", "devices"]) {
    const names = h("datalist", { id: kind });
    holder.append(names);
    entries(kind).then((all) => names.append(...all.map((e: { id: string; name: string }) => h("option", { value: e.id }, e.name))), () => undefined);
  }
  return holder;
}

/// The values that are set, as the API takes them.
export function body(values: Values, leave: string[] = []): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([k, v]) => v !== "" && !leave.includes(k)).map(([k, v]) => [k, v === "true" ? true : v]));
}

export const span = (i: Interval | null | undefined, show: (v: number) => string): Child =>
  !i ? "–" : i.low === i.high ? show(i.mid) : h("span", {}, show(i.mid), h("br"), h("small", { class: "faint" }, `${show(i.low)} – ${show(i.high)}`));
export const bullets = (lines: string[]) => h("ul", { class: "tight" }, lines.map((l) => h("li", {}, l)));
export const section = (title: string, ...children: Child[]) => h("section", {}, h("h2", {}, title), ...(children as Node[]));
export const assumptions = (lines: string[] | undefined) =>
  lines?.length ? h("details", {}, h("summary", {}, `Assumed (${lines.length})`), bullets(lines)) : null;
/// A change as a program would send it, for people: `"tpot": "190ms"` → `tpot: 190ms`; what is switched on is named alone.
export const changed = (text: string) => text.replace(/"/g, "").replace(/: true\b/g, "").replace(/_/g, " ");
export const words = (key: string) => key.replace(/_/g, " ");

export const precisions: [string, string][] = [["", "as the engine does"], ["bf16", "bf16"], ["fp8", "fp8"], ["int8", "int8"], ["int4", "int4"], ["awq", "awq"], ["mxfp4", "mxfp4"], ["nvfp4", "nvfp4"]];
