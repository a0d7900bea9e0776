//go:build browser

package page

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"iwda/internal/browser"
	"iwda/internal/must"
)

// open shows the page of the tests' content.
func open(t *testing.T) (ctx context.Context, complaints *[]string) {
	return browser.Open(t, write(t, content(t)), "#runs")
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
	must.Do(t, chromedp.Run(ctx,
		chromedp.Title(&title),
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
	browser.CheckWidths(t, ctx)
	var closed int
	must.Do(t, chromedp.Run(ctx,
		emulation.SetEmulatedMedia().WithMedia("print"),
		chromedp.Evaluate(`dispatchEvent(new Event("beforeprint")); document.querySelectorAll("#tables details:not([open])").length`, &closed),
	))
	if closed > 0 {
		t.Errorf("%d tables stay folded on paper", closed)
	}
	if len(*complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(*complaints, "\n"))
	}
}

func TestAccessible(t *testing.T) {
	ctx, _ := open(t)
	browser.CheckAccessible(t, ctx)
}
