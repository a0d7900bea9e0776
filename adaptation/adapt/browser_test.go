//go:build browser

package adapt

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"iwda/internal/testfiles"
)

// The report of few classes and of many is left for the browser's tests of package page.
func TestBrowserReport(t *testing.T) {
	folder := os.Getenv("IWDA_PAGES")
	if folder == "" {
		t.Fatal("$IWDA_PAGES must name a folder for the pages, as make test-browser has it do")
	}
	for _, classes := range []int{3, 40} {
		o, w, p := concluded(t, classes)
		testfiles.Write(t, filepath.Join(folder, fmt.Sprintf("adapt-%d.html", classes)), reported(t, o, w, p, invented(o)))
	}
}
