package images

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenUnlabelled returns the images of a place without their labels: those of a folder and
// of the folders in it, in the order of their paths, or those that a list names, in its
// order, as [OpenOwn] reads it.
//
// Hidden files and folders are passed over, and so are links to folders. A folder
// without an image, or a list that names a file which is not there, is an error.
func OpenUnlabelled(place string) (*Set, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	set := &Set{name: place, root: place}
	if info.IsDir() {
		set.paths, err = pathsBelow(place)
	} else {
		set.root = filepath.Dir(place)
		_, err = set.addList(place, nil)
	}
	if err == nil && set.Len() == 0 {
		err = fmt.Errorf("%s: no .jpg, .jpeg, .png or .webp files", place)
	}
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
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
	return paths, err
}
