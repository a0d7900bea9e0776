package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"iwda/internal/must"
)

// sortable is a page with a table that is sorted by a click on the head of a column.
func sortable(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, Write(&b, "Glyphs <& more>", `<main><h1>Glyphs</h1><section id="runs"><details><summary>Every run</summary><div class="wide" tabindex="0" role="group" aria-label="runs"><table class="sortable">
<thead><tr><th>run</th><th class="n">best (%)</th></tr></thead>
<tbody><tr><td>b</td><td class="n">9.00</td></tr><tr><td>a</td><td class="n">85.00</td></tr><tr><td>c</td><td class="n">60.00</td></tr>
</tbody></table></div></details></section></main>`))
	return b.String()
}

func TestWrite(t *testing.T) {
	text := sortable(t)
	for _, part := range []string{"<title>Glyphs &lt;&amp; more&gt;</title>", "<td>b</td>", "table.sortable"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
	checkSelfContained(t, text)
}

// checkSelfContained looks for whatever a browser would load from elsewhere, and
// that all elements are closed.
func checkSelfContained(t *testing.T, text string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?i)(?:src|href)\s*=\s*"([^"]*)"|@import|url\(([^#)][^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if target := match[1]; !strings.HasPrefix(target, "#") && !strings.HasPrefix(target, "data:") {
			t.Errorf("the page loads %q", match[0])
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(text[strings.Index(text, "<body>"):strings.Index(text, "<script>")]))
	decoder.Entity = xml.HTMLEntity
	var open []string
	for {
		token, err := decoder.Token()
		if err != nil {
			break // at the end of the part: body is still open
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, token.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if fmt.Sprint(open) != "[body]" {
		t.Errorf("elements left open: %v", open)
	}
}
