package images

import (
	"fmt"
	"io/fs"
	"strings"

	"iwda/internal/printable"
)

// Listing is what the files of a domain are, and how they differ from what its
// classes ask for. Paths are relative to the root and separated by slashes.
type Listing struct {
	// From is the folder that was read.
	From string
	// Set has the images of the known classes, by class in label order, then by
	// path.
	Set *Set
	// MissingClasses are the classes without an image.
	MissingClasses []string
	// ExtraFolders hold images but belong to no class, to one of several, or to one
	// that another folder was taken for.
	ExtraFolders []string
	// ExtraFiles are other files and folders that no class asks for; reading
	// ignores them.
	ExtraFiles []string
}

// Complete returns the set. It is an error, which names up to ten of each, if classes are missing
// or folders have images of no known class.
func (l *Listing) Complete() (*Set, error) {
	var troubles []string
	if len(l.MissingClasses) > 0 {
		troubles = append(troubles, "no images of "+printable.FirstTen(l.MissingClasses))
	}
	if len(l.ExtraFolders) > 0 {
		troubles = append(troubles, "folders of no known class: "+printable.FirstTen(l.ExtraFolders))
	}
	if troubles != nil {
		return nil, fmt.Errorf("images: %s: %s", l.From, strings.Join(troubles, "; "))
	}
	return l.Set, nil
}

// Scan lists the images of a set of that name in the first of the folders, relative to root, that
// exists. That none does is an error which wraps [fs.ErrNotExist].
//
// The folder has a folder of .jpg, .jpeg, .png and .webp files for each class. One that has the
// name of no class is matched without regard to case, spaces, underscores and other signs:
// "Alarm Clock" is the class Alarm_Clock, unless that has a folder of its own. Folders of images
// that are none of the classes, or could be several, and other files are listed as extra.
func Scan(name, root string, folders, classes []string) (*Listing, error) {
	for _, folder := range folders {
		if found, ok := findFolder(root, folder); ok {
			return scanTree(name, root, found, classes)
		}
	}
	return nil, fmt.Errorf("images: nothing of %s in %s: neither %s: %w", name, root, strings.Join(folders, " nor "), fs.ErrNotExist)
}
