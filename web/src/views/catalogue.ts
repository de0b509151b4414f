// Catalogue: every entry, every figure, each with its source.
import { get, list, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { csv, digits, failure, h, palette, table, tools, unit, type Child, type Column } from "../ui";
import { section, words, type Show } from "../view";

const kinds = ["devices", "systems", "fabrics", "models", "prices", "architectures", "sources"];
const shown: Record<string, string[]> = {
  devices: ["id", "name", "vendor", "year", "memory_bytes", "memory_bandwidth_bytes_per_s", "peak_dense_flops_per_s.bf16", "peak_dense_flops_per_s.fp8", "tdp_w", "status"],
  systems: ["id", "name", "kind", "device", "devices", "scale_up_domain", "total_memory_bytes", "power_max_w", "status"],
  fabrics: ["id", "name", "kind", "port_bytes_per_s_per_direction", "latency_s", "switch_radix", "status"],
  models: ["id", "name", "type", "parameters", "active_parameters", "layers", "context_tokens", "kv_bytes_per_token"],
  prices: ["id", "item", "kind", "provider", "region", "price_usd_per_gpu_hour", "amount", "currency", "unit", "date"],
  architectures: ["id", "name", "vendor", "inherits", "bf16_flops_per_core_and_clock", "highest_clock_hz"],
  sources: ["id", "title", "date", "kind", "where"],
};
const plain = (entry: Answer, path: string): unknown => path.split(".").reduce((at, key) => at?.[key], entry);
const units: [RegExp, string][] = [[/_bytes_per_s(_per_direction)?$/, "B/s"], [/bytes_per_token$/, "B"], [/_bytes(\.\w+)?$/, "B"], [/flops_per_s(\.\w+)?$/, "FLOP/s"], [/_w$/, "W"], [/_hz$/, "Hz"], [/_s$/, "s"], [/parameters(_each)?$/, ""]];
function figure(path: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (/year$/.test(path)) return String(value);
  const found = units.find(([pattern]) => pattern.test(path));
  return found ? unit(value, found[1]).trim() : digits(value, 4);
}
/// Every figure of an entry, nested ones with their path.
function flat(value: Answer, path = ""): [string, unknown][] {
  if (Array.isArray(value)) return value.every((v) => typeof v !== "object") ? [[path, value.join(", ")]] : value.flatMap((v, i) => flat(v, `${path}[${v?.name ?? i}]`));
  if (value && typeof value === "object") return Object.entries(value).flatMap(([k, v]) => flat(v, path ? `${path}.${k}` : k));
  return [[path, value]];
}
/// What is worth a picture of each kind: two figures against each other.
const pictures: Record<string, { x: string; y: string; say: string; x_axis: string; y_axis: string; group: string; linear?: boolean }> = {
  devices: { x: "memory_bandwidth_bytes_per_s", y: "peak_dense_flops_per_s.bf16", say: "Devices: memory bandwidth against the dense bf16 peak", x_axis: "memory bandwidth (B/s) →", y_axis: "↑ bf16 peak (FLOP/s)", group: "vendor" },
  systems: { x: "devices", y: "total_memory_bytes", say: "Systems: how many devices, how much memory", x_axis: "devices →", y_axis: "↑ memory (B)", group: "kind" },
  fabrics: { x: "latency_s", y: "port_bytes_per_s_per_direction", say: "Fabrics: latency against the rate of a port", x_axis: "latency (s) →", y_axis: "↑ port, one direction (B/s)", group: "kind" },
  models: { x: "active_parameters", y: "kv_bytes_per_token", say: "Models: parameters that a token meets against the cache that it leaves", x_axis: "active parameters →", y_axis: "↑ KV cache per token (B)", group: "type" },
  prices: { x: "date", y: "price_usd_per_gpu_hour", say: "Prices of a GPU-hour over time", x_axis: "published →", y_axis: "↑ $ per GPU-hour", group: "kind", linear: true },
};
async function picture(into: HTMLElement, kind: string, entries: Answer[]): Promise<void> {
  const of = pictures[kind];
  const points = of ? entries.map((e) => ({ id: e.id as string, x: of.linear ? (e[of.x] ? new Date(e[of.x]) : null) : (plain(e, of.x) as number), y: plain(e, of.y) as number, group: String(e[of.group] ?? "–") })).filter((p) => p.x && p.y > 0) : [];
  into.hidden = points.length < 2;
  if (into.hidden) return;
  const groups = [...new Set(points.map((p) => p.group))];
  await draw(into, of.say, (p) => ({
    x: of.linear ? { label: of.x_axis } : { type: "log", label: of.x_axis, tickFormat: "~s", ticks: 6 }, y: { type: "log", label: of.y_axis, tickFormat: "~s", ticks: 6 }, color: { legend: true, domain: groups, range: palette },
    marks: [p.dot(points, { x: "x", y: "y", stroke: "group", fill: "group", fillOpacity: 0.3, r: 3.5 }), p.tip(points, p.pointer({ x: "x", y: "y", title: (d) => `${d.id}\n${d.group}\n${figure(of.y, d.y)}`, fill: "var(--page)" }))],
  }));
}
/// "peak_dense_flops_per_s.fp8" → "peak dense, fp8": units stand with the values.
const label = (path: string): string => words(path.replace(/^partitions\[([^\]]*)\]\./, "partition $1, ").replace(/_(bytes_per_s_per_direction|flops_per_s|flops_per_byte|bytes_per_s|bytes|hz|w)(?=\.|$)/, "").replace(".", ", "));
const link = (text: string): Child => (/^https?:\/\/\S+$/.test(text) ? h("a", { href: text, rel: "noreferrer noopener", target: "_blank" }, text) : text);

export const show: Show = (into, values, go) => {
  const kind = kinds.includes(values.kind) ? values.kind : "devices";
  into.append(h("h1", {}, "Catalogue"), h("p", { class: "lede" }, "The data behind every answer. An entry shows each figure with its source."),
    h("nav", { class: "kinds", "aria-label": "Kinds" }, kinds.map((k) => h("a", { href: `#/catalogue?kind=${k}`, "aria-current": k === kind ? "true" : undefined }, k))));
  const out = h("div");
  into.append(out);
  let gone = false;
  const ready = (work: Promise<Answer>, then: (a: Answer) => void) => { out.replaceChildren(h("p", { class: "busy", role: "status" }, "Loading…")); work.then((a) => { if (!gone) then(a); }, (e) => { if (!gone) out.replaceChildren(failure(e)); }); };
  if (values.id) ready(Promise.all([kind === "devices" || kind === "models" ? get("catalogue", { id: values.id }).then((a) => a[kind]) : list(kind), list("sources")]), ([all, sources]) => entry(all, sources));
  else ready(list(kind), listing);

  function listing(all: Answer[]): void {
    const columns: Column<Answer>[] = shown[kind].map((path) => ({
      name: words(path.replace(/_(bytes_per_s_per_direction|bytes_per_s|bytes|w|hz|s)$/, "").replace("peak_dense_flops_per_s.", "peak ")), number: all.some((e) => typeof plain(e, path) === "number"), plain: (e) => plain(e, path) as string,
      show: (e) => (path === "id" ? h("a", { href: `#/catalogue?kind=${kind}&id=${encodeURIComponent(e.id)}` }, e.id) : path === "device" && e.device ? h("a", { href: `#/catalogue?kind=devices&id=${e.device}` }, e.device) : figure(path, plain(e, path))),
    }));
    const rows = h("div"), chart = h("figure"), count = h("p", { class: "faint", role: "status" });
    let found = all;
    const filter = (text: string) => {
      const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
      found = all.filter((e) => { const whole = JSON.stringify(e).toLowerCase(); return parts.every((p) => whole.includes(p)); });
      count.textContent = `${found.length} of ${all.length}`;
      rows.replaceChildren(table(columns, found));
      void picture(chart, kind, found);
    };
    out.replaceChildren(h("label", { for: "filter", class: "filter" }, "Filter", h("input", { id: "filter", type: "search", value: values.filter ?? "", placeholder: "every word must occur: hbm3e nvidia",
      oninput: (e: Event) => { const text = (e.target as HTMLInputElement).value; go({ kind, ...(text ? { filter: text } : {}) }); filter(text); } })), count, chart, rows,
      tools(kind, { json: all, csv: () => csv(columns, found), ...(pictures[kind] ? { figure: () => figureOf(chart) } : {}), command: `ridge show ${kind}` }));
    filter(values.filter ?? "");
  }

  function entry(all: Answer[], sources: Answer[]): void {
    const e = all?.find((x) => x.id === values.id);
    if (!e) { out.replaceChildren(failure({ message: `there is no entry ${values.id} among the ${kind}` })); return; }
    const from: Record<string, string> = e.figure_sources ?? {};
    const rows = flat(Object.fromEntries(Object.entries(e).filter(([k]) => !["figure_sources", "notes", "id", "name", "place", "source"].includes(k)))).map(([path, value]) => ({ path, value, source: from[path] ?? from[path.split(/[.[]/)[0]] ?? (plain(e, path.split("[")[0]) as Answer[] | null)?.find?.((x) => path.includes(`[${x?.name}]`))?.source ?? (typeof value === "string" ? e.source : undefined) })).filter((r) => !/\]\.(source|name)$/.test(r.path));
    const columns: Column<Answer>[] = [
      { name: "figure", show: (r) => label(r.path) }, { name: "value", number: true, show: (r) => figure(r.path, r.value), plain: (r) => r.value },
      { name: "source", show: (r) => (r.source ? h("a", { href: `#/catalogue?kind=sources&id=${encodeURIComponent(r.source)}` }, r.source) : h("span", { class: "faint" }, kind === "sources" ? "" : r.value === null ? "" : "derived")), plain: (r) => r.source ?? "" },
    ];
    const used = [...new Set([e.source, ...Object.values(from)].filter(Boolean))].map((id) => sources.find((s) => s.id === id)).filter(Boolean);
    const value: Column<Answer> = kind === "sources" || kind === "prices" ? { ...columns[1], number: false, show: (r) => link(figure(r.path, r.value)) } : columns[1];
    const uses = kind === "devices" ? ["explore", "device", "Explore it"] : kind === "models" ? ["explore", "model", "Explore it"] : null;
    out.replaceChildren(h("p", {}, h("a", { href: `#/catalogue?kind=${kind}` }, `← ${kind}`)), h("h2", {}, e.name ?? e.title ?? e.item ?? e.id, " ", h("small", { class: "faint" }, e.id)), e.notes ? h("p", {}, e.notes) : "",
      uses ? h("p", {}, h("a", { href: `#/${uses[0]}?${uses[1]}=${encodeURIComponent(e.id)}` }, uses[2])) : "",
      table(kind === "sources" ? [columns[0], value] : [columns[0], value, columns[2]], rows.filter((r) => r.value !== null && r.value !== "")),
      used.length ? section("Sources", h("ul", { class: "tight" }, used.map((s: Answer) => h("li", {}, h("a", { href: `#/catalogue?kind=sources&id=${encodeURIComponent(s.id)}` }, s.title ?? s.id), ` (${s.date}) `, h("span", { class: "faint" }, s.where ?? ""))))) : "",
      e.place ? h("p", { class: "faint" }, `data/${e.place}`) : "", tools(e.id, { json: e, csv: () => csv(columns, rows), command: `ridge show ${e.id}` }));
  }
  return () => { gone = true; };
};
