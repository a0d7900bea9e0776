package images

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OpenUnlabelled returns the images of a place without their labels: those of a folder and
// of the folders in it, in the order of their paths, or those that a list names, in its
// order. A list has a path a line, relative to its own folder, which a label may follow;
// see [OpenList].
//
// Hidden files and folders are passed over, and so are links to folders. A folder
// without an image, or a list that names a file which is not there, is an error.
func OpenUnlabelled(place string) (*Set, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	set := &Set{name: place, root: place}
	if !info.IsDir() {
		set.root = filepath.Dir(place)
		set.paths, err = listedPaths(place)
	} else {
		set.paths, err = pathsBelow(place)
	}
	if err != nil {
		return nil, err
	}
	for range set.paths {
		set.labels.Add(0, false)
	}
	return set, nil
}

// pathsBelow returns the images in a folder and below it, relative to it.
func pathsBelow(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root, func(location string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case location == root:
			return nil
		case strings.HasPrefix(entry.Name(), ".") && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || !hasImageName(entry.Name()):
			return nil
		}
		relative, err := filepath.Rel(root, location)
		paths = append(paths, filepath.ToSlash(relative))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("images: %s holds no .jpg, .jpeg, .png or .webp file", root)
	}
	return paths, nil
}

// listedPaths returns the paths in a list, all of which are there.
func listedPaths(list string) ([]string, error) {
	file, err := os.Open(list)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	defer file.Close()
	root := filepath.Dir(list)
	var paths []string
	scanner := bufio.NewScanner(file)
	number := 0
	for scanner.Scan() {
		number++
		text := strings.TrimSpace(scanner.Text())
		if text == "" {
			continue
		}
		if at := strings.LastIndexAny(text, " \t"); at >= 0 {
			if _, err := strconv.Atoi(text[at+1:]); err == nil {
				text = text[:at]
			}
		}
		path, err := parsePath(text)
		if err == nil && !exists(root, path) {
			err = fmt.Errorf("there is no file %.200q", filepath.Join(root, path))
		}
		if err != nil {
			return nil, fmt.Errorf("images: %s:%d: %w", list, number, err)
		}
		paths = append(paths, path)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("images: %s:%d: %w", list, number+1, err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("images: %s names no image", list)
	}
	return paths, nil
}
