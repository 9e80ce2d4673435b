// Package kv implements [workerskv.Namespace] with a binding of Workers KV. It is built only for js/wasm, with TinyGo
// and its scheduler: while a call waits for a promise, other goroutines run.
//
// The shell is the JavaScript code that instantiates the wasm module. Before that, it sets globalThis.context = {env,
// ctx, binding}. Package kv finds the binding with package github.com/syumai/workers/cloudflare/kv, but makes its own
// calls: that package does not support metadata, and leaks a function for each resolved promise. In context.binding
// the shell provides
//
//	await(promise, number)  calls settled(number, 1) of the module when promise resolves, settled(number, 0) when it rejects
//	outcome(number)         returns the result or the error of the promise with this number
package kv
