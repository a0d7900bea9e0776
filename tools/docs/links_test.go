package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"iwda/internal/input"
)

var (
	links      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	references = regexp.MustCompile(`\b(?:docs|research)/[a-z0-9/-]+\.md(#[a-z0-9-]+)?`)
	headings   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// sources are the extensions of files that are no pages and may name some.
var sources = []string{".go", ".h", ".cc", ".yaml", ".tmpl", ".py", ".sh", ".html"}

// brokenLinks follows the links between pages, and the names of pages in the code, its
// comments, configurations and scripts: the file is there, and has the heading.
func brokenLinks(root string) ([]string, error) {
	var broken []string
	follow := func(from, folder, link string) {
		file, anchor, _ := strings.Cut(link, "#")
		path := filepath.Join(folder, file)
		if file == "" {
			path = from
		}
		if info, err := os.Stat(path); err != nil {
			broken = append(broken, fmt.Sprintf("%s: %s is not there", from, link))
			return
		} else if info.IsDir() || anchor == "" {
			return
		}
		if page, err := input.Read(path, input.Text); err != nil || !anchors(string(page))[anchor] {
			broken = append(broken, fmt.Sprintf("%s: %s has no such heading", from, link))
		}
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && path != root && (name == "build" || name == "node_modules" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		switch extension := filepath.Ext(path); {
		case extension == ".md":
			page, err := input.Read(path, input.Text)
			for _, link := range links.FindAllSubmatch(fences.ReplaceAll(page, nil), -1) {
				if !strings.Contains(string(link[1]), "://") {
					follow(path, filepath.Dir(path), string(link[1]))
				}
			}
			return err
		case slices.Contains(sources, extension), entry.Name() == "Makefile":
			text, err := input.Read(path, input.Text)
			for _, reference := range references.FindAll(text, -1) {
				follow(path, root, string(reference))
			}
			return err
		}
		return nil
	})
	return broken, err
}

// anchors returns those that a page's headings have, as GitHub makes them.
func anchors(page string) map[string]bool {
	found := make(map[string]bool)
	for _, heading := range headings.FindAllStringSubmatch(fences.ReplaceAllString(page, ""), -1) {
		name := noAnchor.ReplaceAllString(strings.ToLower(heading[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}
