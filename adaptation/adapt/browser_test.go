//go:build browser

package adapt

import (
	"testing"

	"iwda/internal/browser"
)

// The report of few classes and of many asks for nothing from elsewhere, fits every width and can be
// used by everybody.
func TestBrowserReport(t *testing.T) {
	for _, classes := range []int{3, 40} {
		o, w, p := concluded(t, classes)
		ctx, complaints := browser.Open(t, reported(t, o, w, p, invented(o)), "#runs")
		browser.CheckWidths(t, ctx)
		browser.CheckAccessible(t, ctx)
		browser.CheckWidths(t, ctx) // with everything folded out
		for _, complaint := range *complaints {
			t.Error(complaint)
		}
	}
}
