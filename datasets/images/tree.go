package images

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"iwda/internal/printable"
)

// OpenPublished returns the images of a domain of a published data set, under that name, from the first of the folders,
// relative to root, that exists; that none does is an error which wraps [fs.ErrNotExist]. They are in the order of the classes.
//
// The folder has a folder of images for each class, as [OpenOwn] takes them. One that has the name of no class is matched
// without regard to case, spaces, underscores and other signs: "Alarm Clock" is the class Alarm_Clock, unless that has a
// folder of its own. A folder of images that is none of the classes, or could be several, and classes without an image are
// errors.
func OpenPublished(name, root string, folders, classes []string) (*Set, error) {
	for _, wanted := range folders {
		folder, there := findFolder(root, wanted)
		if !there {
			continue
		}
		s := &Set{name: name, root: root, classes: classes}
		labels, err := s.addFolder(folder, classes)
		if err != nil {
			return nil, err
		}
		ofClass, paths := map[string][]string{}, s.paths
		for i, label := range labels {
			ofClass[label] = append(ofClass[label], paths[i])
		}
		var missing []string
		s.paths = nil
		for class, name := range classes {
			if ofClass[name] == nil {
				missing = append(missing, name)
			}
			s.paths = append(s.paths, ofClass[name]...)
			for range ofClass[name] {
				s.labels.Add(class, true)
			}
		}
		if missing != nil {
			return nil, fmt.Errorf("images: %s: no images of %s", filepath.Join(root, folder), printable.FirstTen(missing))
		}
		return s, nil
	}
	return nil, fmt.Errorf("images: nothing of %s in %s: neither %s: %w", name, root, strings.Join(folders, " nor "), fs.ErrNotExist)
}

// labelFolders returns the labels of the folders that are matched with a class, see
// [OpenPublished].
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
