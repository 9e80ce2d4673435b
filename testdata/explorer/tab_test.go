package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is a browser window that a test controls.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string // URLs of all requests of this tab
	problems []string // errors in the console of this tab

	ends chan struct{} // receives an element when a download of any tab ends
}

// newTab opens an empty window.
func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	if err := chromedp.Do(ctx); err != nil { // the tab is closed when this call's context ends, so the context has no timeout
		t.Fatal(err)
	}
	b := &tab{T: t, ctx: ctx}
	t.Cleanup(func() {
		if t.Failed() {
			b.report()
		}
		cancel()
	})
	b.do(chromedp.EmulateViewport(1280, 800))
	// Show entities as JSON by default, because tests compare the exact values in the JSON.
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `try { localStorage.getItem("edgetable.form") ?? localStorage.setItem("edgetable.form", '"json"') } catch {}`})
		return chromedp.Void{}, err
	})
	sent := chromedp.Events(ctx, network.RequestWillBeSent)
	console := chromedp.Console(ctx)
	go func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.requests = append(b.requests, e.Request.URL)
			b.mu.Unlock()
		}
	}()
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			if m.Type == "error" || m.Type == "exception" {
				b.mu.Lock()
				b.problems = append(b.problems, m.Text)
				b.mu.Unlock()
			}
		}
	}()
	return b
}

// report logs what the page shows.
func (b *tab) report() {
	b.Helper()
	b.shot(strings.ReplaceAll(b.Name(), "/", "-") + "-failed")
	ctx, cancel := b.before(toEnd)
	defer cancel()
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[location.hash, "the focus is in " + document.activeElement?.cloneNode().outerHTML, document.body.innerText.slice(0, 3000)].join("\n")`))
	if err != nil {
		b.Logf("the page does not answer: %v", err)
	}
	b.Logf("the page shows\n%s", shown)
	for _, p := range b.complaints() {
		b.Log("console:", p)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := b.patience()
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// open loads a URL.
func (b *tab) open(url string) {
	b.Helper()
	b.do(chromedp.Navigate(url))
}

// js evaluates a JavaScript expression and returns its value. It awaits promises.
func js[T any](b *tab, format string, args ...any) T {
	b.Helper()
	value, expression, err := tryJS[T](b, format, args...)
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return value
}

// tryJS is like js, but returns an error instead of failing the test. It also returns the expression.
func tryJS[T any](b *tab, format string, args ...any) (value T, expression string, err error) {
	b.Helper()
	ctx, cancel := b.patience()
	defer cancel()
	expression = format
	if len(args) > 0 {
		literals := make([]any, len(args))
		for i, arg := range args {
			text, err := json.Marshal(arg)
			if err != nil {
				b.Fatal(err)
			}
			literals[i] = string(text)
		}
		expression = fmt.Sprintf(format, literals...)
	}
	value, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	return value, expression, err
}

// A waiting test gives up when toReport is left until the deadline of 'go test'. It has reported what the page shows when
// toEnd is left. So the failure has the condition for which the test waited.
const (
	toReport = 30 * time.Second
	toEnd    = 10 * time.Second
)

// patience returns the context of what a test waits for.
func (b *tab) patience() (context.Context, context.CancelFunc) { return b.before(toReport) }

// before returns a context that ends when this time is left until the deadline of 'go test'.
func (b *tab) before(left time.Duration) (context.Context, context.CancelFunc) {
	end, ok := b.Deadline()
	if !ok {
		return context.WithCancel(b.ctx)
	}
	return context.WithDeadline(b.ctx, end.Add(-left))
}

// wait waits in the page until a JavaScript expression is true. It evaluates the expression whenever the document
// changes. The page may be reloaded meanwhile.
func (b *tab) wait(format string, args ...any) {
	b.Helper()
	for {
		_, expression, err := tryJS[bool](b, `new Promise((resolve, reject) => {
			let over = false
			const end = how => { over = true; changes.disconnect(); clearInterval(again); how() }
			const look = () => {
				try {
					if (!over && (`+format+`)) end(() => resolve(true))
				} catch (e) {
					end(() => reject(e))
				}
			}
			const changes = new MutationObserver(look)
			changes.observe(document, {subtree: true, childList: true, attributes: true, characterData: true})
			const again = setInterval(look, 20) // for what is no change of the document; a tab in the background has no frames
			look()
		})`, args...)
		switch {
		case err == nil:
			return
		case errors.Is(err, context.DeadlineExceeded):
			b.Fatalf("this did not come true: "+strings.ReplaceAll(format, "%s", "%#v"), args...)
		case !strings.Contains(err.Error(), "navigated"):
			b.Fatalf("%s: %v", expression, err)
		}
	}
}

// held waits until a request of the page has reached a handler that delays it.
func (b *tab) held(arrived <-chan struct{}) {
	b.Helper()
	ctx, cancel := b.patience()
	defer cancel()
	select {
	case <-arrived:
	case <-ctx.Done():
		b.Fatal("the page did not send the request")
	}
}

// note begins to record every text that certain elements show, because some texts are only visible for a moment. The
// method noted checks the recorded texts.
func (b *tab) note(selector string) {
	b.Helper()
	js[bool](b, `(() => {
		const kept = window.noted = new Set()
		const keep = () => document.querySelectorAll(%s).forEach(e => kept.add(e.innerText))
		new MutationObserver(keep).observe(document, {subtree: true, childList: true, attributes: true, characterData: true})
		keep()
		return true
	})()`, selector)
}

// noted waits until a recorded text contains the given text. The method note begins the recording.
func (b *tab) noted(text string) {
	b.Helper()
	b.wait(`[...window.noted].some(t => t.includes(%s))`, text)
}

// at returns a selector of the element whose attribute data-test has this value.
func at(name string) string { return `[data-test="` + name + `"]` }

func (b *tab) see(selector string) {
	b.Helper()
	b.wait(`document.querySelector(%s)?.checkVisibility()`, selector)
}

// seeText waits until an element contains a text.
func (b *tab) seeText(selector, text string) {
	b.Helper()
	b.wait(`[...document.querySelectorAll(%s)].some(e => e.checkVisibility() && (e.innerText || e.value || "").includes(%s))`, selector, text)
}

// click clicks with the mouse, as soon as the control is enabled.
func (b *tab) click(selector string) {
	b.Helper()
	b.see(selector)
	b.wait(`!document.querySelector(%s)?.disabled`, selector)
	b.hit(selector, chromedp.Click(chromedp.CSS(selector)))
}

// doubleClick clicks twice with the mouse.
func (b *tab) doubleClick(selector string) {
	b.Helper()
	b.hit(selector, chromedp.DoubleClick(chromedp.CSS(selector)))
}

// mostClicks bounds the clicks on a control that something covers.
const mostClicks = 20

// hit clicks on a control. If the control moves before the click arrives, for example because rows have arrived above it, the
// page gets nothing of this click, and hit tries again.
func (b *tab) hit(selector string, click chromedp.Action[chromedp.Void]) {
	b.Helper()
	b.see(selector)
	for hit, tries := false, 0; !hit; tries++ {
		if tries == mostClicks {
			b.Fatalf("%d clicks on %s did not reach it: at its centre is %s", tries, selector, js[string](b, `(e => {
				const {left, right, top, bottom} = e.getBoundingClientRect()
				return document.elementFromPoint((left + right) / 2, (top + bottom) / 2)?.outerHTML.slice(0, 300) ?? "nothing"
			})(document.querySelector(%s))`, selector))
		}
		js[bool](b, `(() => {
			const aim = window.aim = {missed: false}
			const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick"]
			const look = e => {
				if (e.type === "pointerdown") aim.missed = !document.querySelector(%s)?.contains(e.target)
				if (aim.missed) { e.preventDefault(); e.stopImmediatePropagation() }
			}
			kinds.forEach(kind => addEventListener(kind, look, {capture: true}))
			aim.end = () => { kinds.forEach(kind => removeEventListener(kind, look, {capture: true})); return !aim.missed }
			return true
		})()`, selector)
		b.do(click)
		hit = js[bool](b, `window.aim?.end() ?? true`) // a page that was loaded again no longer has window.aim
	}
}

// fill replaces the text of a field by typing.
func (b *tab) fill(selector, text string) {
	b.Helper()
	b.see(selector)
	js[bool](b, `(e => { e.focus(); e.select?.(); return true })(document.querySelector(%s))`, selector)
	if text == "" {
		b.keys(kb.Delete)
		return
	}
	b.keys(text)
}

func (b *tab) keys(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// choose selects an option by its value.
func (b *tab) choose(selector, value string) {
	b.Helper()
	b.see(selector)
	js[bool](b, `(e => { e.value = %[2]s; e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); return true })(document.querySelector(%[1]s))`, selector, value)
}

// asked returns the URLs of all requests so far.
func (b *tab) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.requests...)
}

// complaints returns the errors in the console so far.
func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.problems...)
}

// shotThemes returns the themes for tests that only take screenshots. Without EDGETABLE_SCREENSHOTS, it returns none.
func shotThemes() []string {
	if os.Getenv("EDGETABLE_SCREENSHOTS") == "" {
		return nil
	}
	return []string{"light", "dark"}
}

// shot saves a screenshot if EDGETABLE_SCREENSHOTS is set.
func (b *tab) shot(name string) {
	b.Helper()
	dir := os.Getenv("EDGETABLE_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := b.before(toEnd)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.Log(err)
	}
}
