package explorer

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// browser is the Chromium process that all tests share. Each tab has its own cookies and storage.
var browser context.Context

func TestMain(m *testing.M) { os.Exit(main(m)) }

func main(m *testing.M) int {
	path, err := exec.LookPath("chromium")
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
