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

// LayoutError says that files cannot be read as the classes of a data set.
type LayoutError struct {
	Listing *Listing
}

// Error names up to ten of each kind of trouble.
func (e *LayoutError) Error() string {
	var troubles []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			troubles = append(troubles, what+" "+printable.FirstTen(names))
		}
	}
	add("no images of", e.Listing.MissingClasses)
	add("folders of no known class:", e.Listing.ExtraFolders)
	return "images: " + e.Listing.From + ": " + strings.Join(troubles, "; ")
}

// Complete returns the set, or a [LayoutError] if a class is missing or a folder has images of
// an unknown class.
func (l *Listing) Complete() (*Set, error) {
	if len(l.MissingClasses)+len(l.ExtraFolders) > 0 {
		return nil, &LayoutError{Listing: l}
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
