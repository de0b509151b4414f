// The small layer under all views: elements, numbers with units, tables, forms whose state is the link.
export type Child = Node | string | number | null | undefined | false | Child[];

export function h(tag: string, attributes: Record<string, unknown> = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "style") element.setAttribute("style", String(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(element: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child instanceof Node) element.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) element.appendChild(document.createTextNode(String(child)));
  }
}

export interface Interval { low: number; mid: number; high: number }

/// Three significant digits, thousands grouped.
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.max(0, significant - 1 - size);
  const rounded = size >= significant ? Math.round(value) : value;
  const kept = Number.isInteger(rounded) ? 0 : Math.min(decimals, 12);  // 24 is counted, 2.40 is estimated
  return rounded.toLocaleString("en-US", { maximumFractionDigits: kept, minimumFractionDigits: kept });
}

const steps: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
/// 1.36e3, "W" → "1.36 kW".
export function unit(value: number | null | undefined, name: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${name}`;
  const [scale, prefix] = steps.find(([s]) => Math.abs(value) >= s * 0.9995) ?? steps[steps.length - 1];
  return `${digits(value / scale)} ${prefix}${name}`;
}
export const seconds = (v: number | null | undefined) =>
  v === null || v === undefined ? "–" : v >= 86400 * 2 ? `${digits(v / 86400)} days` : v >= 7200 ? `${digits(v / 3600)} h` : v >= 120 ? `${digits(v / 60)} min` : unit(v, "s");
export const money = (v: number | null | undefined) =>
  v === null || v === undefined || !Number.isFinite(v) ? "unknown" : v >= 1e6 ? `$${digits(v / 1e6)}M` : v >= 1e4 ? `$${digits(v / 1e3)}k` : `$${digits(v)}`;
export const bytesText = (v: number | null | undefined) => unit(v, "B");
export const percent = (v: number, decimals = 0) => `${(100 * v).toFixed(decimals)} %`;
export const rate = (v: number) => `${digits(v)} tok/s`;

/// What was asked and not got, in the words of the program.
export function failure(error: unknown): HTMLElement {
  const e = error as { where?: string; message?: string };
  return h("div", { class: "error", role: "alert" }, e.where ? h("strong", {}, `${e.where}: `) : null, e.message ?? String(error));
}

export interface Card { what: string; big: string; note?: string }
export const cards = (list: Card[]) =>
  h("div", { class: "cards" }, list.map((c) => h("div", { class: "card" }, h("div", { class: "what" }, c.what), h("div", { class: "big" }, c.big), c.note ? h("div", { class: "note" }, c.note) : null)));
export const interval = (what: string, i: Interval | null | undefined, show: (v: number) => string): Card =>
  i ? { what, big: show(i.mid), note: i.low === i.high ? undefined : `${show(i.low)} – ${show(i.high)}` } : { what, big: "–" };

export interface Column<T> { name: string; show: (row: T) => Child; number?: boolean; plain?: (row: T) => string | number | null | undefined }
export function table<T>(columns: Column<T>[], rows: T[], chosen?: { row?: T; pick: (row: T) => void }): HTMLElement {
  return h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, columns.map((c) => h("th", { class: c.number ? "n" : undefined, scope: "col" }, c.name)))),
    h("tbody", {}, rows.map((row) => {
      const pick = chosen ? () => chosen.pick(row) : undefined;
      return h("tr", { class: chosen?.row === row ? "chosen" : undefined, tabindex: chosen ? 0 : undefined, onclick: pick,
        onkeydown: pick ? (e: KeyboardEvent) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); pick(); } } : undefined },
        columns.map((c) => h("td", { class: c.number ? "n" : undefined }, c.show(row))));
    }))));
}
export function csv<T>(columns: Column<T>[], rows: T[]): string {
  const quote = (v: unknown) => { const s = v === null || v === undefined ? "" : String(v); return /[",\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s; };
  const text = (c: Column<T>, row: T) => { if (c.plain) return c.plain(row); const s = c.show(row); return s instanceof Node ? s.textContent : s; };
  return [columns.map((c) => quote(c.name)).join(","), ...rows.map((row) => columns.map((c) => quote(text(c, row))).join(","))].join("\n") + "\n";
}

export function download(name: string, type: string, text: string): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name }) as HTMLAnchorElement;
  document.body.appendChild(link); link.click(); link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/// Downloads, the link to this view and the command that gives the same answer.
export function tools(name: string, parts: { json?: unknown; csv?: () => string; figure?: () => SVGElement | null; command?: string }): HTMLElement {
  const command = parts.command;
  const copied = h("button", { type: "button", onclick: async (e: Event) => { await navigator.clipboard?.writeText(command ?? ""); (e.target as HTMLElement).textContent = "Copied"; } }, "Copy command");
  return h("div", { class: "tools" },
    parts.json !== undefined ? h("button", { type: "button", onclick: () => download(`${name}.json`, "application/json", JSON.stringify(parts.json, null, 2)) }, "JSON") : null,
    parts.csv ? h("button", { type: "button", onclick: () => download(`${name}.csv`, "text/csv", parts.csv!()) }, "CSV") : null,
    parts.figure ? h("button", { type: "button", onclick: () => { const svg = parts.figure!(); if (svg) download(`${name}.svg`, "image/svg+xml", svgText(svg)); } }, "SVG") : null,
    command ? [h("code", { class: "command" }, command), copied] : null);
}
function svgText(svg: SVGElement): string {
  const copy = svg.cloneNode(true) as SVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("style", "background:#fff;color:#24292f;font-family:sans-serif;font-size:12px");
  return new XMLSerializer().serializeToString(copy);
}

export type Values = Record<string, string>;
export interface Field { key: string; label: string; kind?: "text" | "number" | "area" | "select" | "switch" | "range"; options?: string[] | [string, string][]; list?: string; low?: number; high?: number; step?: number; logarithmic?: boolean; show?: (v: number) => string; group?: string; hint?: string }

/// A form of fields; `changed` hears every change (while dragging too). The state is plain texts, as in the link.
export function fields(list: Field[], values: Values, changed: (v: Values) => void): HTMLElement {
  const state = { ...values };
  const set = (key: string, value: string) => { state[key] = value; changed({ ...state }); };
  const groups = new Map<string, HTMLElement[]>();
  for (const f of list) {
    const id = `f-${f.key}`;
    let control: HTMLElement;
    let extra: HTMLElement | null = null;
    const value = state[f.key] ?? "";
    if (f.kind === "select") {
      control = h("select", { id, onchange: (e: Event) => set(f.key, (e.target as HTMLSelectElement).value) },
        (f.options ?? []).map((o) => { const [v, t] = Array.isArray(o) ? o : [o, o]; return h("option", { value: v, selected: v === value }, t || "–"); }));
    } else if (f.kind === "area") {
      control = h("textarea", { id, spellcheck: "false", onchange: (e: Event) => set(f.key, (e.target as HTMLTextAreaElement).value) }, value);
    } else if (f.kind === "switch") {
      control = h("input", { id, type: "checkbox", checked: value === "true", onchange: (e: Event) => set(f.key, (e.target as HTMLInputElement).checked ? "true" : "") });
    } else if (f.kind === "range") {
      const scale = (x: number) => (f.logarithmic ? Math.pow(2, x) : x);
      const back = (v: number) => (f.logarithmic ? Math.log2(v) : v);
      const shown = h("span", { class: "value" }, f.show ? f.show(Number(value)) : value);
      extra = shown;
      control = h("input", { id, type: "range", min: back(f.low!), max: back(f.high!), step: f.step ?? (f.logarithmic ? 1 : "any"), value: back(Number(value || f.low)),
        oninput: (e: Event) => { const v = Math.round(scale(Number((e.target as HTMLInputElement).value)) * 1e6) / 1e6; shown.textContent = f.show ? f.show(v) : String(v); set(f.key, String(v)); } });
    } else {
      control = h("input", { id, type: f.kind === "number" ? "number" : "text", min: f.low, value, list: f.list, placeholder: f.hint, autocomplete: "off", spellcheck: "false",
        onchange: (e: Event) => set(f.key, (e.target as HTMLInputElement).value) });
    }
    const row = h("label", { for: id, class: f.kind === "switch" ? "row" : undefined }, f.kind === "switch" ? [control, f.label] : [h("span", {}, f.label, " ", extra), control]);
    const group = f.group ?? "";
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group)!.push(row);
  }
  return h("form", { onsubmit: (e: Event) => e.preventDefault() },
    [...groups].map(([name, rows]) => (name ? h("fieldset", {}, h("legend", {}, name), rows) : rows)));
}

const inks = {
  light: ["#0b5cad", "#d9730d", "#1a7f37", "#8250df", "#b91c26", "#0e7c86", "#9a6700", "#bf3989", "#57606a", "#4d7c0f"],
  dark: ["#58a6ff", "#f0883e", "#4cc466", "#b392f0", "#ff7b72", "#39c5cf", "#e0aa3a", "#f778ba", "#8b949e", "#a3be4c"],
};
/// The colours of charts and bars, those of the theme that is on.
export const palette = [...inks.light];
export const setPalette = (theme: string) => void palette.splice(0, palette.length, ...(theme === "dark" ? inks.dark : inks.light));
export function stacked(parts: { name: string; value: number; text: string }[], total: number): HTMLElement {
  return h("div", {},
    h("div", { class: "bar", role: "img", "aria-label": parts.map((p) => `${p.name} ${p.text}`).join(", ") }, parts.map((p, i) => h("span", { style: `width:${(100 * p.value) / total}%;background:${palette[i % palette.length]}`, title: `${p.name}: ${p.text}` }))),
    h("div", { class: "key" }, parts.map((p, i) => h("span", {}, h("i", { style: `background:${palette[i % palette.length]}` }), `${p.name} ${p.text}`))));
}
