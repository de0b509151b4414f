// One look for all charts. The libraries come with the first chart that is drawn.
import type * as PlotModule from "@observablehq/plot";

let plot: Promise<typeof PlotModule> | null = null;
export const Plot = () => (plot ??= import("@observablehq/plot"));

export type Options = PlotModule.PlotOptions;
/// Draws into `into`; options are made once the library is there.
export async function draw(into: HTMLElement, caption: string, make: (p: typeof PlotModule) => Options): Promise<ReturnType<typeof PlotModule.plot>> {
  const p = await Plot();
  const made = make(p);
  const width = Math.max(320, Math.min(into.clientWidth || 800, 1100));
  const figure = p.plot({ width, height: 380, marginLeft: 64, marginBottom: 44, grid: true, ...made, style: { background: "transparent", color: "currentColor", fontSize: "12px", overflow: "visible" } });
  const caption_ = document.createElement("figcaption");
  caption_.textContent = caption;
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", caption);
  into.replaceChildren(caption_, figure);
  return figure;
}
/// The chart itself: a legend has small pictures of its own.
export const figureOf = (into: HTMLElement): SVGElement | null => [...into.querySelectorAll("svg")].find((s) => s.parentElement?.tagName === "FIGURE") ?? null;

/// Curves over time, many points: uPlot on a canvas.
export async function timeline(into: HTMLElement, caption: string, x: number[], series: { name: string; values: number[]; colour: string }[], unit: string): Promise<void> {
  const { default: UPlot } = await import("uplot");
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--faint").trim();
  const line = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const caption_ = document.createElement("figcaption");
  caption_.textContent = caption;
  into.replaceChildren(caption_);
  new UPlot({
    width: Math.max(320, into.clientWidth || 800), height: 240, scales: { x: { time: false } },
    axes: [{ ...axis, label: "seconds" }, { ...axis, label: unit, size: 64 }],
    series: [{ label: "s" }, ...series.map((s) => ({ label: s.name, stroke: s.colour, width: 1.5 }))],
  }, [x, ...series.map((s) => s.values)] as never, into);
}
