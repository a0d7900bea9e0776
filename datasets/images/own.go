package images

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"iwda/datasets/table"
)

// OpenOwn returns the images at a path of the user's own, under that name: a folder, or a
// list file. classes are those that labels must have; where they are nil, all that occur
// are classes, in the order of their names, numbers by their value. Hidden folders are
// passed over, and links to folders not followed.
//
// In a folder, images at any depth are taken. Those below a folder that has the name of a
// class, see [OpenTree], are of that class, and those directly in the folder of none that
// is known. Where classes are given and no folder has the name of one, all images are
// without a label; where some have and others not, it is an error.
//
// In a list, a line is a path, relative to the list's folder, and after a tab or the last
// blank the name of a class, which may be missing for one that is not known, see
// [table.Unknown]. Empty lines are passed over; errors name file and line.
func OpenOwn(name string, classes []string) (*Set, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	set, labels := &Set{name: name, root: name}, []string(nil)
	if info.IsDir() {
		labels, err = set.addFolder(classes)
	} else {
		set.root = filepath.Dir(name)
		labels, err = set.addList(name, classes)
	}
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if set.Len() == 0 {
		return nil, fmt.Errorf("images: %s: no .jpg, .jpeg, .png or .webp files", name)
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
	for _, label := range labels {
		class, known := index[label]
		set.labels.Add(class, known)
	}
	return set, nil
}

// addFolder adds the images of the set's folder and returns their labels, "" for none.
func (s *Set) addFolder(classes []string) (labels []string, err error) {
	entries, err := readFolder(s.root, "")
	if err != nil {
		return nil, err
	}
	matched := labelFolders(entries, classes)
	stray := "" // a folder of images that has the name of no class
	s.paths, err = pathsBelow(s.root)
	for _, inside := range s.paths {
		label := ""
		if folder, _, deeper := strings.Cut(inside, "/"); deeper {
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
	if err == nil && stray != "" && slices.ContainsFunc(labels, func(label string) bool { return label != "" }) {
		err = fmt.Errorf("%s: the folder %s has the name of no class, but others have; there are %.500s", s.root, stray, strings.Join(classes, ", "))
	}
	return labels, err
}

// addList adds the images of a list and returns their labels, "" for none.
func (s *Set) addList(name string, classes []string) (labels []string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		text := strings.TrimSpace(scanner.Text())
		if text == "" {
			continue
		}
		text, label := cutLabel(text)
		path, err := parsePath(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if !hasImageName(filepath.Base(path)) {
			return nil, fmt.Errorf("%s:%d: %.200q is no .jpg, .jpeg, .png or .webp file; want a path and, after a tab or blank, a class (files of features end with %s)", name, line, path, table.Extensions)
		}
		if classes != nil && label != "" && !slices.Contains(classes, label) {
			return nil, fmt.Errorf("%s:%d: label %.100q is no class of the source, which has %.500s", name, line, label, strings.Join(classes, ", "))
		}
		if !exists(s.root, path) {
			return nil, fmt.Errorf("%s:%d: there is no file %.200q", name, line, filepath.Join(s.root, path))
		}
		s.paths, labels = append(s.paths, path), append(labels, label)
	}
	return labels, scanner.Err()
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

// classesOf returns the labels that occur, sorted, as numbers where all are.
func classesOf(labels []string) []string {
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.DeleteFunc(slices.Compact(classes), func(label string) bool { return label == "" })
	numbers := make(map[string]int, len(classes))
	for _, class := range classes {
		number, err := strconv.Atoi(class)
		if err != nil {
			return classes
		}
		numbers[class] = number
	}
	slices.SortFunc(classes, func(a, b string) int { return numbers[a] - numbers[b] })
	return classes
}
