// Command worker is edgetable as a module of WebAssembly for Cloudflare Workers,
// built by TinyGo, and called by the shell worker.mjs:
//
//	fetch → worker.mjs → serve → core/protocol → core/table → adapters/store/durableobject ┐
//	                                      answers ← worker.mjs ← RPC ← calls ────────┘
//	RPC   → worker.mjs → object → adapters/store/durableobject/object → rows in SQLite
//
// With a binding of Workers KV named EDGETABLE_REPLICA there is a replica. Objects publish their changes to it, and it
// answers reads at the secondary address, which may be old:
//
//	alarm → object → batch ┐
//	       worker.mjs → publish → adapters/store/workerskv → kv
//
// The module has no goroutines, which would take a third of its size and half of its
// speed. A call to objects suspends the whole instance: an instance serves one request
// at a time, and the shell keeps several. An object never waits; one instance serves
// all objects of an isolate.
//
// # The interface of module and shell
//
// Bytes pass through one buffer in the memory of the module. Its functions are
//
//	buffer(n) pointer      the buffer, with room for n bytes; it may move with each call
//	configure(n) n         variables in the buffer → 0, or the length of an error in it
//	serve(n) n             a request → in four bytes each where the body of the response is and how long, then the head
//	hold()                 makes the memory for the largest messages to objects
//	object(number, n, all) n  a message of n bytes to the current object, and the answers to its calls → the step to take
//	known(n) n             a question about what the isolate knows → the answer
//	limit(which, n, tokens) f64  takes tokens of the key in the buffer → milliseconds to wait, 0: none; 0 tokens: only asks;
//	                       fewer: after the fact
//	publish(n) n           a batch of an object for the replica → its result
//
// and it imports from "edge"
//
//	now() f64              milliseconds since 1970
//	random() i64           random bits
//	call(calls, n, ms, writes) n  calls objects, all at once → answers in the buffer; suspends
//	kv(pointer, n) n       a call of Workers KV → its result in the buffer; suspends
//	log(level, pointer, n) writes a line of JSON: 0 info, 1 error
//	known(pointer, n) n    the same, in the instance that remembers for all → the answer in the buffer
//	limit(which, key, n, tokens) f64  the same, in the instance that counts for all
//	row_get(key, n) n      → the row's value in the buffer, or -1
//	row_put(key, n, value, n), row_delete(key, n), row_delete_all(), row_drop_day(day)
//	row_size() f64         size of all rows in bytes
//	row_scan(range, n) n   → whole rows in the buffer
//
// Numbers are little-endian and have four bytes unless noted. The code that reads and
// writes a message describes its form.
package main

func main() {}
