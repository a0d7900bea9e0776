//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"iwda/internal/input"
	"iwda/internal/must"
)

// Open shows a page, waits until an element that a selector names is seen, and returns what actions take, and
// the errors and requests seen.
func Open(t *testing.T, page, selector string) (ctx context.Context, complaints *[]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	must.Do(t, os.WriteFile(path, []byte(page), 0o666))
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(allocator)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(stop)

	complaints = new([]string)
	chromedp.ListenTarget(ctx, func(event any) {
		switch event := event.(type) {
		case *cdpruntime.EventExceptionThrown:
			*complaints = append(*complaints, "exception: "+event.ExceptionDetails.Error())
		case *cdpruntime.EventConsoleAPICalled:
			*complaints = append(*complaints, "console: "+string(event.Type))
		case *log.EventEntryAdded:
			*complaints = append(*complaints, "log: "+event.Entry.Text)
		case *network.EventRequestWillBeSent:
			if url := event.Request.URL; !strings.HasPrefix(url, "file:") && !strings.HasPrefix(url, "data:") {
				*complaints = append(*complaints, "request: "+url)
			}
		}
	})
	must.Do(t, chromedp.Run(ctx, log.Enable(), network.Enable(), chromedp.Navigate("file://"+path), chromedp.WaitVisible(selector)))
	return ctx, complaints
}

// CheckWidths fails the test if the page itself scrolls sideways at some width, or shows nothing.
func CheckWidths(t *testing.T, ctx context.Context) {
	t.Helper()
	for _, width := range []int64{360, 400, 768, 1280} {
		var overflow int
		var screenshot []byte
		must.Do(t, chromedp.Run(ctx,
			chromedp.EmulateViewport(width, 900),
			chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &overflow),
			chromedp.FullScreenshot(&screenshot, 90),
		))
		if overflow > 0 {
			t.Errorf("at a width of %d the page is %d pixels wider", width, overflow)
		}
		if len(screenshot) < 10_000 {
			t.Errorf("at a width of %d the screenshot has %d bytes", width, len(screenshot))
		}
	}
}

// CheckAccessible fails the test for each violation that axe-core, a file that $IWDA_AXE names,
// finds with everything folded out: narrow and wide, light and dark.
func CheckAccessible(t *testing.T, ctx context.Context) {
	t.Helper()
	axe, err := input.Read(os.Getenv("IWDA_AXE"), input.Text)
	if err != nil {
		t.Fatalf("$IWDA_AXE must name axe-core's axe.min.js, as make test-browser has it do: %v", err)
	}
	const unfold = `for (const d of document.querySelectorAll("details")) d.open = true; ""`
	const run = `axe.run().then(r => JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200))}))}))`
	var text string
	must.Do(t, chromedp.Run(ctx, chromedp.Evaluate(string(axe)+`; ""`, &text), chromedp.Evaluate(unfold, &text)))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{400, 1280} {
			media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
			must.Do(t, chromedp.Run(ctx, media, chromedp.EmulateViewport(width, 900),
				chromedp.Evaluate(run, &text, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) })))
			var found struct {
				Passes     int
				Violations []struct {
					ID, Help string
					Nodes    []string
				}
			}
			must.Do(t, json.Unmarshal([]byte(text), &found))
			setting := fmt.Sprintf("%s, %d pixels wide", scheme, width)
			t.Logf("axe-core, %s: %d rules passed, %d violated", setting, found.Passes, len(found.Violations))
			if found.Passes < 10 {
				t.Errorf("%s: only %d rules passed", setting, found.Passes)
			}
			for _, v := range found.Violations {
				t.Errorf("%s: %s: %s:\n%s", setting, v.ID, v.Help, strings.Join(v.Nodes, "\n"))
			}
		}
	}
}
