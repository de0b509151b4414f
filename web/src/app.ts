// The frame of the page: the link names the view and its state, each view comes when it is first asked for.
import { failure, h, setPalette, type Values } from "./ui";
import type { Show } from "./view";

const views: Record<string, { name: string; load: () => Promise<{ show: Show }> }> = {
  plan: { name: "Plan", load: () => import("./views/plan") },
  fleet: { name: "Fleet", load: () => import("./views/fleet") },
  explore: { name: "Explore", load: () => import("./views/explore") },
  train: { name: "Train", load: () => import("./views/train") },
  rl: { name: "RL", load: () => import("./views/rl") },
  serve: { name: "Serve", load: () => import("./views/serve") },
  measure: { name: "Measure", load: () => import("./views/measure") },
  cost: { name: "Cost", load: () => import("./views/cost") },
  record: { name: "Record", load: () => import("./views/record") },
  accuracy: { name: "Accuracy", load: () => import("./views/accuracy") },
  check: { name: "Check", load: () => import("./views/check") },
  catalogue: { name: "Catalogue", load: () => import("./views/catalogue") },
};

const main = document.getElementById("view")!;
const nav = document.getElementById("nav")!;
let leave: (() => void) | void;
let shown = 0;

function place(): { name: string; values: Values } {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { name: path in views ? path : "plan", values: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

async function render(focus: boolean): Promise<void> {
  const mine = ++shown;
  const { name, values } = place();
  for (const link of nav.querySelectorAll("a")) {
    if (link.dataset.view === name) { link.setAttribute("aria-current", "page"); link.scrollIntoView({ block: "nearest", inline: "center" }); }
    else link.removeAttribute("aria-current");
  }
  document.title = `${views[name].name} – Ridgeline`;
  try {
    const { show } = await views[name].load();
    if (mine !== shown) return;
    leave?.();
    main.replaceChildren();
    main.dataset.view = name;
    leave = show(main, values, (state) => {
      const query = new URLSearchParams(state).toString();
      history.replaceState(null, "", `#/${name}${query ? `?${query}` : ""}`);
    });
    if (focus) main.focus({ preventScroll: true });
  } catch (error) {
    main.replaceChildren(failure(error));
  }
}

for (const [key, view] of Object.entries(views)) {
  const link = h("a", { href: `#/${key}` }, view.name);
  link.dataset.view = key;
  nav.append(link);
}

// Light or dark: what was chosen here, otherwise what the system says.
const kept = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
const theme = (name: string) => { document.documentElement.dataset.theme = name; setPalette(name); };
theme(kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
document.getElementById("theme")!.addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  theme(next);
  try { localStorage.setItem("theme", next); } catch { /* a browser that keeps nothing */ }
  void render(false);
});
document.querySelector(".skip")!.addEventListener("click", (e) => { e.preventDefault(); main.focus(); });
addEventListener("hashchange", () => void render(true));
void render(false);
