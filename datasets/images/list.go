package images

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// scanList lists the images that a list file names; see [Collection.Open].
func scanList(name, root, list string, classes []string) (*Listing, error) {
	location := filepath.Join(root, filepath.FromSlash(list))
	file, err := os.Open(location)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	defer file.Close()
	lines, err := parseList(file, location, len(classes))
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	defer folder.Close()
	l := &Listing{From: location, Set: &Set{name: name, root: root, classes: classes}}
	named := make([]bool, len(classes))
	for _, line := range lines {
		named[line.label] = true
		info, err := folder.Stat(filepath.FromSlash(line.path))
		if err != nil && exists(root, line.path) {
			return nil, fmt.Errorf("images: %s:%d: the path %q leaves the folder that paths are relative to through a link; open the folder behind the link instead", location, line.number, line.path)
		}
		if err != nil || !info.Mode().IsRegular() {
			l.MissingFiles = append(l.MissingFiles, line.path)
			continue
		}
		l.Set.paths = append(l.Set.paths, line.path)
		l.Set.labels.Add(line.label, true)
	}
	for label, class := range classes {
		if !named[label] {
			l.MissingClasses = append(l.MissingClasses, class)
		}
	}
	return l, nil
}

// exists reports whether there is a file of that path below root or behind a link.
func exists(root, file string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(file)))
	return err == nil
}

type listLine struct {
	number int // from 1
	path   string
	label  int
}

// parseList reads the lines of a list file; name is the file's in errors.
func parseList(r io.Reader, name string, classes int) ([]listLine, error) {
	var lines []listLine
	seen := make(map[string]listLine)
	err := eachLine(r, name, func(number int, text string) error {
		line, err := parseLine(text, classes)
		if err != nil {
			return err
		}
		if first, again := seen[line.path]; again && first.label != line.label {
			return fmt.Errorf("%s has the label %d here and %d in line %d", line.path, line.label, first.label, first.number)
		}
		line.number = number
		seen[line.path] = line
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lines, nil
}

// eachLine calls f for every line of a list that is not empty, without the blanks around it.
// Errors name the list and the line.
func eachLine(r io.Reader, name string, f func(number int, text string) error) error {
	scanner := bufio.NewScanner(r)
	number := 1
	for ; scanner.Scan(); number++ {
		text := strings.TrimSpace(scanner.Text())
		if text == "" {
			continue
		}
		if err := f(number, text); err != nil {
			return fmt.Errorf("images: %s:%d: %w", name, number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("images: %s:%d: %w", name, number, err)
	}
	return nil
}

func parseLine(text string, classes int) (listLine, error) {
	at := strings.LastIndexAny(text, " \t")
	if at < 0 {
		return listLine{}, fmt.Errorf("%.200q, want a path and a label", text)
	}
	label, err := strconv.Atoi(text[at+1:])
	if err != nil || label < 0 || label >= classes {
		return listLine{}, fmt.Errorf("label %.200q, want a number from 0 to %d", text[at+1:], classes-1)
	}
	file, err := parsePath(text[:at])
	return listLine{path: file, label: label}, err
}

// parsePath returns the path that a list names, which must stay in the folder that it is
// relative to.
func parsePath(text string) (string, error) {
	file := strings.TrimSpace(text)
	if strings.ContainsRune(file, 0) {
		return "", errors.New("a path with a zero byte")
	}
	if path.IsAbs(file) || !filepath.IsLocal(filepath.FromSlash(file)) {
		return "", fmt.Errorf("the path %.200q leaves the folder that paths are relative to", file)
	}
	return path.Clean(file), nil
}
