//go:build js && wasm

package kv

import (
	"context"
	"strings"
	"syscall/js"

	"edgetable/adapters/store/workerskv"

	"github.com/syumai/workers/cloudflare/kv"
)

// Namespace implements [workerskv.Namespace] with a binding of Workers KV.
type Namespace struct {
	binding js.Value
	shell   js.Value
}

var _ workerskv.Namespace = (*Namespace)(nil)

// Open returns the Namespace of the binding with the given name.
func Open(name string) (*Namespace, error) {
	if _, err := kv.NewNamespace(name); err != nil {
		return nil, err
	}
	context := js.Global().Get("context")
	return &Namespace{binding: context.Get("env").Get(name), shell: context.Get("binding")}, nil
}

// Get implements [workerskv.Namespace].
func (n *Namespace) Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, false, err
	}
	answer, err := n.await(n.binding.Call("getWithMetadata", name, "arrayBuffer"))
	if err != nil {
		return nil, nil, false, err
	}
	buffer := answer.Get("value")
	if buffer.IsNull() || buffer.IsUndefined() {
		return nil, nil, false, nil
	}
	bytes := js.Global().Get("Uint8Array").New(buffer)
	value = make([]byte, bytes.Length())
	js.CopyBytesToGo(value, bytes)
	drop(buffer)
	return value, text(answer.Get("metadata")), true, nil
}

// Write implements [workerskv.Namespace]. It makes the writes one after another. Concurrent writes would speed up only
// a purge or a batch.
func (n *Namespace) Write(ctx context.Context, writes []workerskv.Write) []error {
	errs := make([]error, len(writes))
	for i := range writes {
		errs[i] = n.write(ctx, &writes[i])
	}
	return errs
}

func (n *Namespace) write(ctx context.Context, w *workerskv.Write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.Delete {
		_, err := n.await(n.binding.Call("delete", w.Name))
		return asRefusal(err)
	}
	bytes := js.Global().Get("Uint8Array").New(len(w.Value))
	js.CopyBytesToJS(bytes, w.Value)
	options := js.Global().Get("Object").New()
	options.Set("metadata", string(w.Metadata))
	_, err := n.await(n.binding.Call("put", w.Name, bytes, options))
	drop(bytes.Get("buffer"))
	return asRefusal(err)
}

// drop frees the memory of a JavaScript buffer by transferring its bytes. TinyGo keeps a reference to the buffer
// object, which is never freed.
func drop(buffer js.Value) { buffer.Call("transfer", 0) }

// List implements [workerskv.Namespace].
func (n *Namespace) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	options := js.Global().Get("Object").New()
	options.Set("prefix", prefix)
	options.Set("limit", limit)
	if cursor != "" {
		options.Set("cursor", cursor)
	}
	answer, err := n.await(n.binding.Call("list", options))
	if err != nil {
		if cursor != "" && strings.Contains(err.Error(), "400") {
			err = workerskv.ErrCursor
		}
		return nil, "", err
	}
	list := answer.Get("keys")
	keys := make([]workerskv.Key, list.Length())
	for i := range keys {
		one := list.Index(i)
		keys[i] = workerskv.Key{Name: one.Get("name").String(), Metadata: text(one.Get("metadata"))}
	}
	if answer.Get("list_complete").Bool() {
		return keys, "", nil
	}
	return keys, answer.Get("cursor").String(), nil
}

// text returns the bytes of a string, or nil for any other value.
func text(v js.Value) []byte {
	if v.Type() != js.TypeString {
		return nil
	}
	return []byte(v.String())
}
