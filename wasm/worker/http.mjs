// Requests and responses between the platform and the module, whose forms are told in request.go and response.go.
const MiB = 1 << 20;
const maxBody = 4 * MiB; // of a request; beyond it the protocol only needs to know that it is too long
const maxBodies = 32 * MiB; // of all requests that are coming in

const encoder = new TextEncoder(), decoder = new TextDecoder();
export const nothing = new Uint8Array(0);

let bodies = 0; // bytes that are coming in

// read reads the body as far as it may be. Of what is too long only the length is told, but it is read for a while: who
// still sends does not hear an answer.
export async function read(request) {
  const declared = request.headers.get("content-length");
  const length = declared === null ? (request.body === null ? 0 : -1) : Number(declared);
  if (request.body === null) return { bytes: nothing, length };
  if (length > maxBody) {
    await discard(request.body);
    return { bytes: nothing, length };
  }
  const reserved = length < 0 ? maxBody : length;
  if (bodies + reserved > maxBodies) return { bytes: nothing, length: 0, refusal: "busy" };
  bodies += reserved;
  try {
    if (length >= 0) return { bytes: new Uint8Array(await request.arrayBuffer()), length };
    const chunks = [];
    let n = 0;
    for await (const chunk of request.body.values({ preventCancel: true })) {
      if ((n += chunk.length) > maxBody) break;
      chunks.push(chunk);
    }
    if (n <= maxBody) return { bytes: new Uint8Array(await new Blob(chunks).arrayBuffer()), length };
    await discard(request.body);
    return { bytes: nothing, length: n };
  } finally {
    bodies -= reserved;
  }
}

async function discard(body) {
  let n = 0;
  for await (const chunk of body) if ((n += chunk.length) > 4 * maxBody) break; // which cancels the rest
}

// head is a request without its body, as it came: signatures are over these bytes.
export function head(request, length, refusal) {
  let text = `${request.method}\n${request.url}\n${request.headers.get("cf-connecting-ip") ?? ""}\n${refusal}\n${length}`;
  for (const [name, value] of request.headers) text += `\n${name}:${value}`;
  return encoder.encode(text);
}

export function response(bytes) {
  const n = new DataView(bytes.buffer).getUint32(0, true);
  const [status, ...lines] = decoder.decode(bytes.subarray(4, 4 + n)).split("\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  return new Response(bytes.length === 4 + n ? null : bytes.subarray(4 + n), { status: Number(status), headers });
}

// failed is the answer where there is no module to ask.
export function failed() {
  const body = '{"odata.error":{"code":"InternalError","message":{"lang":"en-US","value":"Server encountered an internal error. Please try again after some time."}}}';
  return new Response(body, { status: 500, headers: { "Content-Type": "application/json", "x-ms-error-code": "InternalError" } });
}
