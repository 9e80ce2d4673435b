// Package kv implements [workerskv.Namespace] with a binding of Workers KV. It is built only for js/wasm, with TinyGo
// and its scheduler: while a call waits for a promise, other goroutines run.
//
// The shell is the JavaScript code that instantiates the wasm module. Before it does so, it sets globalThis.context =
// {env, ctx, binding}. Package kv finds the binding with package github.com/syumai/workers/cloudflare/kv. It does not
// use that package for calls, because that package does not support metadata, does not distinguish an empty value from
// a missing one, and leaks a function for each resolved promise. In context.binding the shell provides
//
//	await(promise, number)  calls settled(number, 1) of the module when promise resolves, settled(number, 0) when it rejects
//	outcome(number)         returns the result or the error of the promise with this number
package kv
