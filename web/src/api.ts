// The server's verbs. An answer is the program's own JSON; a refusal is thrown as {where, message}.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Answer = any;

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: Answer = null;
  try { body = JSON.parse(text); } catch { throw { message: `the server answered ${response.status} without JSON` }; }
  if (!response.ok && body?.error) throw body.error;
  return body;
}

export async function post(verb: string, body: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> {
  return read(await fetch(`/v1/${verb}`, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal }));
}

export async function get(path: string, query: Record<string, string> = {}): Promise<Answer> {
  const text = new URLSearchParams(query).toString();
  return read(await fetch(`/v1/${path}${text ? `?${text}` : ""}`));
}

/// Long work as a job: polled, and ended on the server if the signal aborts. `told` hears how far it is, 0 to 1.
export async function job(verb: string, body: Record<string, unknown>, signal: AbortSignal, told: (share: number) => void = () => undefined): Promise<Answer> {
  const started = await post(verb, { ...body, async: true });
  const path = `/v1/jobs/${started.job}`;
  const end = () => void fetch(path, { method: "DELETE" });
  for (let wait = 60; ; wait = Math.min(wait * 1.5, 500)) {
    if (signal.aborted) { end(); throw { message: "ended" }; }
    await new Promise((done) => setTimeout(done, wait));
    const response = await fetch(path);
    if (response.status !== 202) { end(); return read(response); }
    told((await read(response)).progress ?? 0);
  }
}

/// The newest answer only: an answer that is overtaken by the next question is dropped.
export function latest(): <T>(work: (signal: AbortSignal) => Promise<T>, done: (value: T) => void, failed: (error: unknown) => void) => void {
  let current: AbortController | null = null;
  return (work, done, failed) => {
    current?.abort();
    const mine = (current = new AbortController());
    work(mine.signal).then((v) => { if (current === mine) done(v); }, (e) => { if (current === mine && e?.name !== "AbortError") failed(e); });
  };
}

let catalogue: Record<string, Promise<Answer>> = {};
export const list = (kind: string): Promise<Answer> => (catalogue[kind] ??= get("catalogue", { kind }).then((a) => a[kind]));

/// {"kind": "infer", "tp": 2} → "ridge estimate infer --tp 2".
export function command(verb: string, body: Record<string, unknown>): string {
  const words = ["ridge", verb];
  if (body.kind) words.push(String(body.kind));
  const quote = (v: string) => (/^[\w.,:/+%-]+$/.test(v) ? v : `'${v.replace(/'/g, "'\\''")}'`);
  for (const [key, value] of Object.entries(body)) {
    if (key === "kind" || value === undefined || value === null || value === "" || value === false) continue;
    const flag = `--${key.replace(/_/g, "-")}`;
    for (const v of Array.isArray(value) && key === "set" ? value : [value]) words.push(value === true ? flag : `${flag} ${quote(Array.isArray(v) ? v.join(",") : String(v))}`);
  }
  return words.join(" ");
}
