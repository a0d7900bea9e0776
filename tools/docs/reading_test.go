package docs

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"iwda/internal/input"
)

// limits are the words that pages may have, by the beginnings of their paths. Code and
// output in fences are not counted. Pages without a limit are references.
var limits = []struct {
	page  string
	words int
}{
	{"README.md", 600},
	{"docs/README.md", 400},
	{"docs/tutorials/first-adaptation.md", 1000},
	{"docs/tutorials/", 600},
	{"docs/howto/trust.md", 1000},
	{"docs/howto/add-a-method.md", 700},
	{"docs/howto/", 600},
	{"docs/explanation/", 1200},
	{"docs/benchmarks.md", 1000},
	{"docs/glossary.md", 500},
	{"docs/architecture.md", 1500},
}

const (
	longest = 40 // words of a sentence
	mean    = 20 // words of a page's sentences
)

var (
	fences   = regexp.MustCompile("(?ms)^```.*?^```$|^ *<!--.*?-->")
	images   = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	linked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	spans    = regexp.MustCompile("`[^`]*`")
	ends     = regexp.MustCompile(`[.!?][*_)"”]*(\s+|$)`)
	listItem = regexp.MustCompile(`^\s*([-*]|\d+\.)\s+`)
)

// readingOf returns what is too long on the pages that users read: README.md and docs.
func readingOf(root string) ([]string, error) {
	names := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			name, relErr := filepath.Rel(root, path)
			names, err = append(names, filepath.ToSlash(name)), relErr
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var wrong []string
	for _, name := range names {
		text, err := input.Read(filepath.Join(root, name), input.Text)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, tooLong(name, string(text))...)
	}
	return wrong, nil
}

// tooLong returns what is too long on a page.
func tooLong(name, text string) []string {
	text = images.ReplaceAllString(fences.ReplaceAllString(text, ""), "")
	text = spans.ReplaceAllString(linked.ReplaceAllString(text, "$1"), "code")
	var wrong []string
	for _, limit := range limits {
		if !strings.HasPrefix(name, limit.page) {
			continue
		}
		if n := len(strings.Fields(strings.ReplaceAll(text, "|", " "))); n > limit.words {
			wrong = append(wrong, fmt.Sprintf("%s has %d words; at most %d", name, n, limit.words))
		}
		break
	}
	lines, cells := sentences(text)
	words := 0
	for i, sentence := range append(slices.Clone(lines), cells...) {
		n := len(strings.Fields(sentence))
		if n > longest {
			wrong = append(wrong, fmt.Sprintf("%s: a sentence of %d words, at most %d: %.60s…", name, n, longest, sentence))
		}
		if i < len(lines) {
			words += n
		}
	}
	if average := float64(words) / float64(max(len(lines), 1)); average > mean {
		wrong = append(wrong, fmt.Sprintf("%s: sentences have %.1f words on average; at most %d", name, average, mean))
	}
	return wrong
}

// sentences returns those of paragraphs and lists, and those of tables.
func sentences(text string) (lines, cells []string) {
	paragraph := ""
	split := func(text string) (found []string) {
		for _, sentence := range ends.Split(text, -1) {
			if strings.TrimSpace(sentence) != "" {
				found = append(found, strings.TrimSpace(sentence))
			}
		}
		return found
	}
	flush := func() { lines, paragraph = append(lines, split(paragraph)...), "" }
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			flush()
		case strings.HasPrefix(trimmed, "|"):
			flush()
			for _, cell := range strings.Split(trimmed, "|") {
				cells = append(cells, split(cell)...)
			}
		case listItem.MatchString(line):
			flush()
			paragraph = listItem.ReplaceAllString(line, "")
		default:
			paragraph += " " + trimmed
		}
	}
	flush()
	return lines, cells
}
