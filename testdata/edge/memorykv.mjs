// Workers KV in memory, with its limits: names of 512 bytes, in byte order; metadata of 1,024 bytes; pages of 1,000 names. As
// under miniflare, the number of writes per second to a name is not limited.
const maxName = 512, maxMetadata = 1024, maxValue = 25 << 20, maxList = 1000;

function fail(method, status, why) { throw new Error(`KV ${method} failed: ${status} ${why}`); }

export class MemoryKV {
  #cells = new Map(); // by name

  get size() { return this.#cells.size; }

  #check(method, name) {
    const bytes = Buffer.from(name);
    if (bytes.length === 0 || bytes.length > maxName || name === "." || name === "..") fail(method, 414, `a name of ${bytes.length} bytes`);
    if (bytes.toString() !== name || name.includes("\0")) fail(method, 400, "a name that is not UTF-8");
  }

  async getWithMetadata(name, type) {
    this.#check("GET", name);
    const cell = this.#cells.get(name);
    if (type !== "arrayBuffer") fail("GET", 400, type);
    return cell === undefined ? { value: null, metadata: null } : { value: cell.value.slice().buffer, metadata: JSON.parse(cell.metadata) };
  }

  async put(name, value, { metadata = null } = {}) {
    if (value.byteLength > maxValue) fail("PUT", 413, `a value of ${value.byteLength} bytes`);
    const text = JSON.stringify(metadata);
    if (Buffer.byteLength(text) > maxMetadata) fail("PUT", 413, `metadata of ${text.length} bytes`);
    const copy = new Uint8Array(value).slice();
    this.#check("PUT", name);
    this.#cells.set(name, { value: copy, metadata: text });
  }

  async delete(name) {
    this.#check("DELETE", name);
    this.#cells.delete(name);
  }

  async list({ prefix = "", limit = maxList, cursor = "" } = {}) {
    if (!(limit >= 1 && limit <= maxList)) fail("GET", 400, `a limit of ${limit}`);
    if (Buffer.byteLength(prefix) > maxName) fail("GET", 414, "a prefix");
    const after = Buffer.from(cursor, "base64");
    const names = [...this.#cells.keys()].filter((name) => name.startsWith(prefix) && (cursor === "" || Buffer.compare(Buffer.from(name), after) > 0));
    names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const page = names.slice(0, limit), keys = page.map((name) => ({ name, metadata: JSON.parse(this.#cells.get(name).metadata) }));
    if (page.length === names.length) return { keys, list_complete: true };
    return { keys, list_complete: false, cursor: Buffer.from(page.at(-1)).toString("base64") };
  }
}
