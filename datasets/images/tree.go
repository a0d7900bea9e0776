package images

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// scanTree lists the images of a folder that has one for each class; see [Scan].
func scanTree(name, root, folder string, classes []string) (*Listing, error) {
	entries, err := readFolder(root, folder)
	if err != nil {
		return nil, err
	}
	l := &Listing{From: filepath.Join(root, filepath.FromSlash(folder)), Set: &Set{name: name, root: root, classes: classes}}
	labels := labelFolders(entries, classes)
	images := make([][]string, len(classes))
	for _, entry := range entries {
		entryPath := path.Join(folder, entry.name)
		if !entry.folder {
			l.ExtraFiles = append(l.ExtraFiles, entryPath)
			continue
		}
		inside, others, err := imagesIn(root, entryPath)
		if err != nil {
			return nil, err
		}
		label, known := labels[entry.name]
		switch {
		case known && images[label] == nil:
			images[label] = inside
			l.ExtraFiles = append(l.ExtraFiles, others...)
		case len(inside) > 0:
			l.ExtraFolders = append(l.ExtraFolders, entryPath)
		default:
			l.ExtraFiles = append(l.ExtraFiles, entryPath)
		}
	}
	for label, paths := range images {
		if len(paths) == 0 {
			l.MissingClasses = append(l.MissingClasses, classes[label])
		}
		l.Set.paths = append(l.Set.paths, paths...)
		for range paths {
			l.Set.labels.Add(label, true)
		}
	}
	return l, nil
}

// labelFolders returns the labels of the folders that are matched with a class, see
// [Scan].
func labelFolders(entries []entry, classes []string) map[string]int {
	exact := make(map[string]int, len(classes))
	for label, class := range classes {
		exact[class] = label
	}
	labels := make(map[string]int, len(entries))
	for _, entry := range entries {
		if label, named := exact[entry.name]; named && entry.folder {
			labels[entry.name] = label
		}
	}
	similar := make(map[string][]int) // the classes that no folder is named after
	for label, class := range classes {
		if _, found := labels[class]; !found {
			similar[simplified(class)] = append(similar[simplified(class)], label)
		}
	}
	for _, entry := range entries {
		if _, found := labels[entry.name]; found || !entry.folder {
			continue
		}
		if candidates := similar[simplified(entry.name)]; len(candidates) == 1 {
			labels[entry.name] = candidates[0]
		}
	}
	return labels
}

// imagesIn returns the image files of a folder by their names, and what else is in
// it.
func imagesIn(root, folder string) (images, others []string, err error) {
	entries, err := readFolder(root, folder)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		entryPath := path.Join(folder, entry.name)
		if !entry.folder && hasImageName(entry.name) {
			images = append(images, entryPath)
		} else {
			others = append(others, entryPath)
		}
	}
	return images, others, nil
}

// IsImage tells by its name whether a file is an image.
func IsImage(path string) bool { return hasImageName(filepath.Base(path)) }

func hasImageName(name string) bool {
	if strings.HasPrefix(name, ".") {
		return false
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg", ".png", ".webp":
		return true
	}
	return false
}

type entry struct {
	name         string
	folder, link bool
}

// readFolder lists a folder in the order of the names. Links are followed.
func readFolder(root, folder string) ([]entry, error) {
	location := filepath.Join(root, filepath.FromSlash(folder))
	found, err := os.ReadDir(location)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	entries := make([]entry, len(found))
	for i, f := range found {
		entries[i] = entry{f.Name(), f.IsDir(), f.Type()&os.ModeSymlink != 0}
		if entries[i].link {
			info, err := os.Stat(filepath.Join(location, f.Name()))
			entries[i].folder = err == nil && info.IsDir()
		}
	}
	return entries, nil
}

// findFolder returns the folder that wanted names, part by part as classes are
// matched, an exact name before any other.
func findFolder(root, wanted string) (folder string, ok bool) {
	for part := range strings.SplitSeq(wanted, "/") {
		entries, err := readFolder(root, folder)
		if err != nil {
			return "", false
		}
		match := ""
		for _, entry := range entries {
			if entry.folder && (entry.name == part || match == "" && simplified(entry.name) == simplified(part)) {
				match = entry.name
			}
		}
		if match == "" {
			return "", false
		}
		folder = path.Join(folder, match)
	}
	return folder, true
}

// simplified is a name's letters and digits in lower case.
func simplified(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
