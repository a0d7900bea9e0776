//go:build browser

package page

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
	"github.com/google/go-cmp/cmp"

	"iwda/internal/input"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// bestColumn collects a column of the table.
const bestColumn = `[...document.querySelectorAll("#runs tbody tr")].map(row => row.cells[1].textContent)`

func TestBrowser(t *testing.T) {
	ctx, complaints := show(t, sortable(t))
	var title string
	var before, ascending, descending, byName []string
	var sorted string
	unfold := chromedp.Evaluate(`for (const d of document.querySelectorAll("details")) d.open = true; ""`, nil)
	click := func(column string) chromedp.Action {
		return chromedp.Click(`#runs th:nth-child(`+column+`) button`, chromedp.ByQuery)
	}
	must.Do(t, chromedp.Run(ctx,
		chromedp.Title(&title), unfold,
		click("1"), click("1"), chromedp.Evaluate(bestColumn, &byName),
		chromedp.Evaluate(bestColumn, &before),
		click("2"), chromedp.Evaluate(bestColumn, &ascending),
		chromedp.AttributeValue(`#runs th:nth-child(2)`, "aria-sort", &sorted, nil, chromedp.ByQuery),
		click("2"), chromedp.Evaluate(bestColumn, &descending),
	))
	if title != "Glyphs <& more>" || sorted != "ascending" {
		t.Errorf("title %q, aria-sort %q", title, sorted)
	}
	for name, columns := range map[string][2][]string{
		"ascending":  {{"9.00", "60.00", "85.00"}, ascending},
		"descending": {{"85.00", "60.00", "9.00"}, descending},
		"names back": {{"60.00", "9.00", "85.00"}, byName},
	} {
		if diff := cmp.Diff(columns[0], columns[1]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if len(*complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(*complaints, "\n"))
	}
}

// Pages of other packages, which their tests have left in the folder that $IWDA_PAGES names, ask for nothing from
// elsewhere, fit every width and can be used by everybody.
func TestBrowserPages(t *testing.T) {
	pages := must.Have(filepath.Glob(filepath.Join(os.Getenv("IWDA_PAGES"), "*.html")))(t)
	if len(pages) < 2 {
		t.Fatalf("$IWDA_PAGES has the pages %q, want those that make test-browser has package adapt leave", pages)
	}
	for _, path := range pages {
		ctx, complaints := show(t, string(testfiles.Read(t, path)))
		checkWidths(t, ctx)
		checkAccessible(t, ctx)
		checkWidths(t, ctx) // with everything folded out
		for _, complaint := range *complaints {
			t.Errorf("%s: %s", path, complaint)
		}
	}
}

// show opens a page in a headless Chromium, waits until it is seen, and returns what actions take, and
// the errors and requests seen.
func show(t *testing.T, page string) (ctx context.Context, complaints *[]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	testfiles.Write(t, path, page)
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
	must.Do(t, chromedp.Run(ctx, log.Enable(), network.Enable(), chromedp.Navigate("file://"+path), chromedp.WaitVisible("main", chromedp.ByQuery)))
	return ctx, complaints
}

// checkWidths fails the test if the page itself scrolls sideways at some width, or shows nothing.
func checkWidths(t *testing.T, ctx context.Context) {
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

// checkAccessible fails the test for each violation that axe-core, a file that $IWDA_AXE names,
// finds with everything folded out: narrow and wide, light and dark.
func checkAccessible(t *testing.T, ctx context.Context) {
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
