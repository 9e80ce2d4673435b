// Generates load on the Worker in workerd, and measures the CPU time and memory of its process.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const tick = 10; // ms of CPU time, as the kernel counts it for /proc

export class Load {
  agent = new Agent({ keepAlive: true, maxSockets: 64 });
  served = 0;

  static async start(folder, env) {
    const l = new Load();
    l.data = mkdtempSync(join(tmpdir(), "objects"));
    const script = new URL("serve.mjs", import.meta.url).pathname;
    l.child = spawn(process.execPath, [script, folder, "127.0.0.1:0", l.data], { env: { ...process.env, ...env, EDGETABLE_INSPECTOR: "true" }, stdio: ["pipe", "pipe", "ignore"] });
    for await (const line of createInterface({ input: l.child.stdout })) {
      const [name, url] = line.split(" ");
      l[name] = new URL(url);
      if (name === "inspector") break;
    }
    // workerd is the only child of that process with a socket: the other child of miniflare is a compiler.
    l.pid = readdirSync("/proc").filter((p) => /^\d+$/.test(p)).find((p) => {
      try {
        return readFileSync(`/proc/${p}/comm`, "utf8").trim() === "workerd" && l.stat(p)[1] === String(l.child.pid);
      } catch {
        return false; // it ended
      }
    });
    return l;
  }

  // stat returns the fields of /proc/PID/stat after the name of the process: state, parent, …
  stat(pid) {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  }

  cpu() {
    const s = this.stat(this.pid);
    return (Number(s[11]) + Number(s[12])) * tick;
  }

  send({ method, path, headers, body }, status) {
    return new Promise((resolve, reject) => {
      const req = request({ host: this.worker.hostname, port: this.worker.port, agent: this.agent, method, path, headers }, (res) => {
        let text = "";
        res.on("data", (chunk) => { if (res.statusCode !== status) text += chunk; });
        res.on("end", () => (res.statusCode === status ? resolve() : reject(new Error(`${res.statusCode} ${text}`))));
      });
      req.on("error", reject);
      req.end(body);
    });
  }

  async each(list, status) {
    for (const r of list) await this.send(r, status);
    this.served += list.length;
  }

  // run sends n requests, taken from a list in turn, over several connections. It returns requests per second, and the CPU
  // time of one request in ms. If a status is given, any other status is an error; if not, 503 counts as busy.
  async run(list, n, status, connections = 16) {
    const begin = performance.now(), before = this.cpu();
    let next = 0, busy = 0;
    const work = async () => {
      while (next < n) {
        const r = list[next++ % list.length];
        await this.send(r, status ?? r.status).catch((e) => {
          if (status !== undefined || !e.message.startsWith("503")) throw e;
          busy++;
        });
      }
    };
    await Promise.all(Array.from({ length: connections }, work));
    this.served += n;
    return { rate: n / ((performance.now() - begin) / 1000), cpu: (this.cpu() - before) / n, busy };
  }

  // memory returns the memory of the process in MiB.
  async memory() {
    const MiB = 2 ** 20, list = await (await fetch(this.objects)).json();
    const heap = await this.heap();
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return {
      heap: heap / MiB, modules: list.memory / MiB, peak: list.peak / MiB,
      rss: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024,
    };
  }

  // heap returns the bytes of JavaScript's heap after a garbage collection.
  async heap() {
    const targets = await (await fetch(new URL("/json", this.inspector))).json();
    const socket = new WebSocket(targets.find((t) => t.id.startsWith("core:user")).webSocketDebuggerUrl);
    await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
    const waiting = new Map();
    socket.onmessage = ({ data }) => {
      const { id, result, error } = JSON.parse(data);
      waiting.get(id)?.(result ?? error);
    };
    let n = 0;
    const ask = (method) => new Promise((resolve) => {
      waiting.set(++n, resolve);
      socket.send(JSON.stringify({ id: n, method }));
    });
    await ask("HeapProfiler.enable");
    await ask("HeapProfiler.takeHeapSnapshot"); // this collects garbage first, which workerd does not do on its own
    const { usedSize } = await ask("Runtime.getHeapUsage");
    socket.close();
    return usedSize;
  }

  async stop() {
    this.agent.destroy();
    this.child.stdin.end();
    await new Promise((resolve) => this.child.on("exit", resolve));
    rmSync(this.data, { recursive: true });
  }
}
