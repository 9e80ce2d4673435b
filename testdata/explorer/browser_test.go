package explorer

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// browser is the Chromium process that all tests share. Each tab has its own cookies and storage.
var browser context.Context

func TestMain(m *testing.M) { os.Exit(main(m)) }

// unused has features of Chromium that start processes of their own for each window: suggestions of the address bar,
// other menus, and a process for the next page.
var unused = []string{"Translate", "PreloadTopChromeWebUI", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "SpareRendererForSitePerProcess"}

// chromium returns the path of the browser. Chromium's headless shell has the same engine, and no address bar, menus
// and tabs around the page: the tests need half the processor time. EDGETABLE_CHROMIUM names another browser.
func chromium() (path string, err error) {
	if name := os.Getenv("EDGETABLE_CHROMIUM"); name != "" {
		return exec.LookPath(name)
	}
	if path, err = exec.LookPath("chromium-headless-shell"); err == nil {
		return path, nil
	}
	return exec.LookPath("chromium")
}

func main(m *testing.M) int {
	path, err := chromium()
	if err != nil || os.Getenv("EDGETABLE_BINARY") == "" {
		fmt.Println("these tests need chromium, and EDGETABLE_BINARY must name the binary: use 'make explorer-test'")
		return 1
	}
	dir, err := os.MkdirTemp("", "chromium")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.DisableGPU, chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-field-trial-config", true), chromedp.Flag("disable-features", strings.Join(unused, ",")),
		chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	if os.Geteuid() == 0 { // no sandbox, because Chromium's sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var end context.CancelFunc
	browser, end = chromedp.NewContext(allocator, chromedp.WithLogf(log.Printf), chromedp.WithErrorf(log.Printf))
	defer end()
	if err := chromedp.Do(browser); err != nil {
		fmt.Println("chromium does not start:", err)
		return 1
	}
	return m.Run()
}
