package images

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"iwda/datasets"
	"iwda/datasets/table"
	"iwda/internal/input"
)

// OpenOwn returns the images at a path of the user's own, under that name: a folder, or a
// list file. classes are those that labels must have; where they are nil, all that occur
// are classes, in the order of their names, numbers by their value, and a folder without an
// image is an error. Hidden folders are passed over. The folder and those in it may be links
// to folders; links deeper down are not followed.
//
// In a folder, images at any depth are taken. Those below a folder that has the name of a
// class, see [OpenPublished], are of that class, and those directly in the folder of none that
// is known. Where classes are given and no folder has the name of one, all images are
// without a label; where some have and others not, it is an error.
//
// In a list, a line is a path, relative to the list's folder or absolute and below it, and after a tab or the last
// blank the name of a class, which may be missing for one that is not known, see
// [table.Unknown]. Empty lines are passed over; errors name file and line.
func OpenOwn(name string, classes []string) (*Set, error) {
	set, labels, err := openOwn(name, classes)
	if err != nil {
		return nil, err
	}
	if set.classes = classes; classes == nil {
		if set.classes = classesOf(labels); len(set.classes) > table.MaxClasses {
			return nil, fmt.Errorf("images: %s: %d classes, more than %d; are these labels?", name, len(set.classes), table.MaxClasses)
		}
	}
	index := make(map[string]int, len(set.classes))
	for class, name := range set.classes {
		index[name] = class
	}
	if classes == nil {
		if err := set.checkFolders(index); err != nil {
			return nil, err
		}
	}
	for _, label := range labels {
		class, known := index[label]
		set.labels.Add(class, known)
	}
	return set, nil
}

// checkFolders returns an error if a folder in the set's has no image, so that it is none of the
// classes that occur: it would be missed.
func (s *Set) checkFolders(classes map[string]int) error {
	if s.root != s.name { // a list or a single image
		return nil
	}
	entries, err := readFolder(s.root, "")
	for _, entry := range entries {
		if _, occurs := classes[entry.name]; entry.folder && !strings.HasPrefix(entry.name, ".") && !occurs {
			return fmt.Errorf("images: %s: the folder %s has no .jpg, .jpeg, .png or .webp file: convert its images, or take it out", s.root, entry.name)
		}
	}
	return err
}

// OpenUnlabelled returns the images at a path without their labels: those of a folder and
// of the folders in it, in the order of their paths, or those that a list names, in its
// order, as [OpenOwn] reads it, or the one that it is itself.
//
// Hidden files and folders are passed over, and so are links to folders but in the folder itself. A
// folder without an image, or a list that names a file which is not there, is an error.
func OpenUnlabelled(name string) (*Set, error) {
	set, _, err := openOwn(name, nil)
	if err != nil {
		return nil, err
	}
	set.labels = datasets.UnknownLabels(set.Len())
	return set, nil
}

// openOwn returns the images at a path, and the names of their classes, "" for one that is
// not known.
func openOwn(name string, classes []string) (set *Set, labels []string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, fmt.Errorf("images: %w", err)
	}
	set = &Set{name: name, root: name, own: true}
	switch {
	case info.IsDir():
		labels, err = set.addFolder("", classes)
	case IsImage(name):
		set.root, set.paths, labels = filepath.Dir(name), []string{filepath.Base(name)}, []string{""}
	default:
		set.root, set.listed = filepath.Dir(name), true
		labels, err = set.addList(name, classes)
	}
	if i := slices.IndexFunc(set.paths, func(path string) bool { return !utf8.ValidString(path) }); err == nil && i >= 0 {
		err = fmt.Errorf("images: %s: the name %.200q is not UTF-8; rename the file or folder", name, set.paths[i])
	}
	if err == nil && set.Len() == 0 {
		err = fmt.Errorf("images: %s: no .jpg, .jpeg, .png or .webp files; convert other images", name)
	}
	return set, labels, err
}

// addFolder adds the images of a folder in the set's root and returns their labels, "" for none.
func (s *Set) addFolder(top string, classes []string) (labels []string, err error) {
	entries, err := readFolder(s.root, top)
	if err != nil {
		return nil, err
	}
	matched := labelFolders(entries, classes)
	stray := "" // a folder of images that has the name of no class
	s.others = map[string]int{}
	if s.paths, err = s.walk(top, entries, true); err != nil {
		return nil, err
	}
	for _, inside := range s.paths {
		label := ""
		if folder, _, deeper := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(inside, top), "/"), "/"); deeper {
			if class, ok := matched[folder]; ok {
				label = classes[class]
			} else if classes == nil {
				label = folder
			} else {
				stray = folder
			}
		}
		labels = append(labels, label)
	}
	if stray != "" && slices.ContainsFunc(labels, func(label string) bool { return label != "" }) {
		return nil, fmt.Errorf("images: %s: the folder %s has the name of no class, but others have; there are %.500s", filepath.Join(s.root, top), stray, strings.Join(classes, ", "))
	}
	return labels, nil
}

// walk returns the images in a folder below the root and in folders below it, relative to the root, and counts
// other files that are not hidden. Links to folders are followed in the first folder alone, so that the walk ends.
func (s *Set) walk(folder string, entries []entry, first bool) (paths []string, err error) {
	for _, e := range entries {
		inside, hidden := path.Join(folder, e.name), strings.HasPrefix(e.name, ".")
		switch {
		case e.folder && (first || !e.link):
			if hidden {
				continue
			}
			below, err := readFolder(s.root, inside)
			if err != nil {
				return nil, err
			}
			images, err := s.walk(inside, below, false)
			if err != nil {
				return nil, err
			}
			paths = append(paths, images...)
		case hasImageName(e.name):
			paths = append(paths, inside)
		case !hidden:
			s.others[strings.ToLower(path.Ext(e.name))]++
		}
	}
	return paths, nil
}

// addList adds the images of a list and returns their labels, "" for none.
func (s *Set) addList(name string, classes []string) (labels []string, err error) {
	file, err := input.Open(name)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	defer file.Close()
	folder, err := input.OpenFolder(s.root)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	defer folder.Close()
	known := make(map[string]bool, len(classes))
	for _, class := range classes {
		known[class] = true
	}
	err = eachLine(file, name, func(text string) error {
		text, label := cutLabel(text)
		path, err := parsePath(s.root, text)
		switch {
		case err != nil:
			return err
		case !IsImage(path):
			return fmt.Errorf("%.200q is no .jpg, .jpeg, .png or .webp file; want a path and, after a tab or blank, a class (files of features end with %s)", path, table.Extensions)
		case classes != nil && label != "" && !known[label]:
			return fmt.Errorf("label %.100q is not a class of the source, which has %.500s", label, strings.Join(classes, ", "))
		}
		if _, err := folder.Stat(filepath.FromSlash(path)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no file %.200q", filepath.Join(s.root, path))
		} else if err != nil {
			return fmt.Errorf("%.200q: %w; what a list names must be below its folder, also through links, which must be relative", path, withoutPath(err))
		}
		s.paths, labels = append(s.paths, path), append(labels, label)
		return nil
	})
	return labels, err
}

// eachLine calls f for every line of a list that is not empty, without the blanks around it.
// Errors name the list and the line.
func eachLine(r io.Reader, name string, f func(text string) error) error {
	scanner := bufio.NewScanner(r)
	number := 1
	for ; scanner.Scan(); number++ {
		text := strings.TrimSpace(scanner.Text())
		if text == "" {
			continue
		}
		if !utf8.ValidString(text) {
			return fmt.Errorf("images: %s:%d: %w", name, number, table.ErrNotUTF8)
		}
		if err := f(text); err != nil {
			return fmt.Errorf("images: %s:%d: %w", name, number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("images: %s:%d: %w", name, number, err)
	}
	return nil
}

// parsePath returns the path that a list in the folder root names, relative to it. It must stay
// in there.
func parsePath(root, text string) (string, error) {
	file := strings.TrimSpace(text)
	if absolute, err := filepath.Abs(root); err == nil && filepath.IsAbs(file) {
		if relative, err := filepath.Rel(absolute, file); err == nil && filepath.IsLocal(relative) {
			file = filepath.ToSlash(relative)
		}
	}
	if strings.ContainsRune(file, 0) {
		return "", errors.New("a path with a zero byte")
	}
	if path.IsAbs(file) || !filepath.IsLocal(filepath.FromSlash(file)) {
		return "", fmt.Errorf("the path %.200q leaves the folder of the list", file)
	}
	return path.Clean(file), nil
}

// cutLabel divides a line of a list; a label that is not known is "".
func cutLabel(text string) (path, label string) {
	if at := strings.LastIndexByte(text, '\t'); at >= 0 {
		path, label = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
	} else if at := strings.LastIndexByte(text, ' '); at >= 0 && !hasImageName(text) {
		path, label = strings.TrimSpace(text[:at]), text[at+1:]
	} else {
		path = text
	}
	if table.Unknown(label) {
		label = ""
	}
	return path, label
}

// classesOf returns the labels that occur, sorted as those of rows.
func classesOf(labels []string) []string {
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.DeleteFunc(slices.Compact(classes), func(label string) bool { return label == "" })
	table.SortClasses(classes)
	return classes
}
