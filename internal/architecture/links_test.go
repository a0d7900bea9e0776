package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	links      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	references = regexp.MustCompile(`\b(?:docs|research)/[a-z/-]+\.md(#[a-z0-9-]+)?`)
	headings   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	code       = regexp.MustCompile("(?ms)^```.*?^```")
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows the links between pages, and those of comments and configurations to
// them: the file is there, and has the heading.
func TestLinks(t *testing.T) {
	follow := func(from, folder, link string) {
		file, anchor, _ := strings.Cut(link, "#")
		path := filepath.Join(folder, file)
		if file == "" {
			path = from
		}
		page, err := os.ReadFile(path)
		if err != nil && file != "" {
			if info, _ := os.Stat(path); info == nil || !info.IsDir() {
				t.Errorf("%s: %s is not there", from, link)
			}
			return
		}
		if anchor != "" && !anchors(page)[anchor] {
			t.Errorf("%s: %s has no such heading", from, link)
		}
	}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "build" || name == "node_modules" || strings.HasPrefix(name, ".") && name != ".."):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		switch filepath.Ext(path) {
		case ".md":
			page, err := os.ReadFile(path)
			for _, link := range links.FindAllSubmatch(code.ReplaceAll(page, nil), -1) {
				if !strings.Contains(string(link[1]), "://") {
					follow(path, filepath.Dir(path), string(link[1]))
				}
			}
			return err
		case ".go", ".yaml", ".tmpl", ".py", ".sh":
			text, err := os.ReadFile(path)
			for _, reference := range references.FindAll(text, -1) {
				follow(path, "../..", string(reference))
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// anchors returns those that a page's headings have, as GitHub makes them.
func anchors(page []byte) map[string]bool {
	found := make(map[string]bool)
	for _, heading := range headings.FindAllSubmatch(code.ReplaceAll(page, nil), -1) {
		name := noAnchor.ReplaceAllString(strings.ToLower(string(heading[1])), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}
