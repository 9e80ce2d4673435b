// Requests that wait for changes of a table. The module answers at once. The shell then repeats the request each second until
// there are events, so a waiting request holds no instance, and the objects do not know of it. The platform permits 50 calls
// of objects in a request on its free plan, so the more ranges a table has, the earlier the shell gives up and returns an
// answer without events.
const pause = 1_000; // ms
const maxWait = 20_000; // ms
const maxStream = 900_000; // ms
const heartbeat = 15_000; // ms
const maxCalls = 40; // of objects, in one request
const maxWaiting = 256; // requests that wait, in the isolate
const nothing = 2; // the length of "[]"

let waiting = 0;

const sleep = () => new Promise((resolve) => setTimeout(resolve, pause));

// follows reports whether a request asks for the changes of a table.
export function follows(request) { return request.method === "GET" && request.url.includes("comp=changes"); }

// follow serves a request for changes, and waits for events if the client asked for that.
export async function follow(request, serve) {
  const first = await serve(request);
  if (first.status !== 200 || waiting >= maxWaiting) return first;
  if (first.headers.get("content-type") === "text/event-stream") return stream(request, first, serve);
  const asked = new URL(request.url).searchParams, wait = asked.has("since") ? Number(asked.get("wait")) * 1_000 : 0;
  const end = Date.now() + Math.min(wait, maxWait);
  let last = first, calls = first.calls;
  waiting++;
  try {
    while (last.length === nothing && last.headers.get("x-edgetable-behind") === "0.0" && Date.now() + pause <= end && calls + last.calls <= maxCalls) {
      await sleep();
      const next = await serve(request, true);
      if (next.status !== 200 && next.status !== 404 && next.status !== 410) return last; // its signature has expired, or the table is busy
      if ((last = next).status !== 200) return last;
      calls += last.calls;
    }
  } finally {
    waiting--;
  }
  return last;
}

// stream returns a response that stays open and sends one page of events after the other.
function stream(request, first, serve) {
  const all = pages(request, first, serve), encoder = new TextEncoder();
  waiting++;
  let open = true;
  const close = () => { if (open) waiting--; open = false; };
  return new Response(new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await all.next();
        if (!done) return controller.enqueue(encoder.encode(value));
      } catch (e) {
        console.error(JSON.stringify({ msg: "stream", cause: String(e) }));
      }
      close();
      controller.close();
    },
    cancel() {
      close();
      return all.return();
    },
  }), { status: 200, headers: first.headers });
}

// pages yields the pages of a stream. Each begins at the position at which the previous page ended. A page without events is
// a heartbeat, and is sent only if nothing was sent for a while.
async function* pages(request, page, serve) {
  const end = Date.now() + maxStream;
  for (let calls = 0, told = 0; page.status === 200;) {
    const text = await page.text(), found = text.includes("data: {");
    if (found || Date.now() - told >= heartbeat) {
      told = Date.now();
      yield text;
    }
    if ((calls += page.calls) + page.calls > maxCalls || Date.now() >= end) return;
    if (!found) await sleep();
    const headers = new Headers(request.headers);
    headers.set("Last-Event-ID", text.slice(text.lastIndexOf("\nid: ") + 5).split("\n", 1)[0]);
    page = await serve(new Request(request.url, { headers }), true);
  }
}
