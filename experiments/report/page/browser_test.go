//go:build browser

package page

import (
	"context"
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
)

// open shows the page in a headless Chromium, which must be installed, and returns
// its context, and the errors and requests seen.
func open(t *testing.T) (ctx context.Context, complaints *[]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(write(t, content(t))), 0o666); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(allocator)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, time.Minute)
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
	if err := chromedp.Run(ctx, log.Enable(), network.Enable(), chromedp.Navigate("file://"+path), chromedp.WaitVisible("#machines")); err != nil {
		t.Fatal(err)
	}
	return ctx, complaints
}

// bestColumn collects a column of the table of runs.
const bestColumn = `[...document.querySelectorAll("#runs tbody tr")].map(row => row.cells[1].textContent)`

func TestBrowser(t *testing.T) {
	ctx, complaints := open(t)
	var title string
	var before, ascending, descending, byName []string
	var sorted string
	click := func(column string) chromedp.Action {
		return chromedp.Click(`#runs th:nth-child(`+column+`) button`, chromedp.ByQuery)
	}
	err := chromedp.Run(ctx,
		chromedp.Title(&title),
		click("1"), click("1"), chromedp.Evaluate(bestColumn, &byName),
		chromedp.Evaluate(bestColumn, &before),
		click("2"), chromedp.Evaluate(bestColumn, &ascending),
		chromedp.AttributeValue(`#runs th:nth-child(2)`, "aria-sort", &sorted, nil, chromedp.ByQuery),
		click("2"), chromedp.Evaluate(bestColumn, &descending),
	)
	if err != nil {
		t.Fatal(err)
	}
	if title != "Glyphs <& more>" || sorted != "ascending" {
		t.Errorf("title %q, aria-sort %q", title, sorted)
	}
	for name, columns := range map[string][2][]string{
		"ascending":  {{"60.00", "65.00", "70.00", "75.00", "80.00", "85.00"}, ascending},
		"descending": {{"85.00", "80.00", "75.00", "70.00", "65.00", "60.00"}, descending},
		"names back": {{"85.00", "80.00", "75.00", "70.00", "65.00", "60.00"}, byName},
	} {
		if diff := cmp.Diff(columns[0], columns[1]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if len(*complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(*complaints, "\n"))
	}
}

// TestWidths: at no width does the page itself scroll sideways, and nothing is hidden
// on paper.
func TestWidths(t *testing.T) {
	ctx, complaints := open(t)
	for _, width := range []int64{360, 768, 1280} {
		var overflow int
		var screenshot []byte
		err := chromedp.Run(ctx,
			chromedp.EmulateViewport(width, 900),
			chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &overflow),
			chromedp.FullScreenshot(&screenshot, 90),
		)
		if err != nil {
			t.Fatal(err)
		}
		if overflow > 0 {
			t.Errorf("at a width of %d the page is %d pixels wider", width, overflow)
		}
		if len(screenshot) < 10_000 {
			t.Errorf("at a width of %d the screenshot has %d bytes", width, len(screenshot))
		}
	}
	var closed int
	err := chromedp.Run(ctx,
		emulation.SetEmulatedMedia().WithMedia("print"),
		chromedp.Evaluate(`dispatchEvent(new Event("beforeprint")); document.querySelectorAll("#tables details:not([open])").length`, &closed),
	)
	if err != nil {
		t.Fatal(err)
	}
	if closed > 0 {
		t.Errorf("%d tables stay folded on paper", closed)
	}
	if len(*complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(*complaints, "\n"))
	}
}
