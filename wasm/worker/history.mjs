// The earlier states that the platform keeps of an object, with messages in the form of engine/restore.go.
import { answered, failed, lost } from "./calls.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();

// recall answers with the platform's bookmark of the present state or, for a message with a time, of the state at that time.
// If a bookmark follows the time, recall ends the object, which wakes up in that state; the message gets no answer. No other
// message may be handled in between: the end of the table's old incarnation would be undone.
export async function recall(ctx, message) {
  const refused = (e) => Uint8Array.of(failed, ...encoder.encode(String(e?.message ?? e).replaceAll("\n", " ")));
  const at = message.length && new DataView(message.buffer, message.byteOffset).getFloat64(0, true), bookmark = decoder.decode(message.subarray(8));
  if (bookmark === "") {
    try {
      return Uint8Array.of(answered, ...encoder.encode(await (at ? ctx.storage.getBookmarkForTime(at) : ctx.storage.getCurrentBookmark())));
    } catch (e) {
      return refused(e);
    }
  }
  return ctx.blockConcurrencyWhile(async () => {
    try {
      await ctx.storage.onNextSessionRestoreBookmark(bookmark);
    } catch (e) {
      return refused(e);
    }
    ctx.abort("back to an earlier state");
    return Uint8Array.of(lost);
  });
}
