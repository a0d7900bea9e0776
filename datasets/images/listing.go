package images

import (
	"fmt"
	"io/fs"
	"strings"
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
		if len(names) == 0 {
			return
		}
		shown, more := names, ""
		if len(names) > 10 {
			shown, more = names[:10], fmt.Sprintf(" and %d more", len(names)-10)
		}
		troubles = append(troubles, what+" "+strings.Join(shown, ", ")+more)
	}
	add("no images of", e.Listing.MissingClasses)
	add("folders of no known class:", e.Listing.ExtraFolders)
	return "images: " + e.Listing.From + ": " + strings.Join(troubles, "; ")
}

// complete returns the set, or a [LayoutError] where a class is missing or a folder has
// images of an unknown class.
func (l *Listing) complete() (*Set, error) {
	if len(l.MissingClasses)+len(l.ExtraFolders) > 0 {
		return nil, &LayoutError{Listing: l}
	}
	return l.Set, nil
}

// MissingDomainError says that there is no folder of a domain. It is an [fs.ErrNotExist] to errors.Is.
type MissingDomainError struct {
	Collection Collection
	Domain     string
	Root       string   // where they were looked for
	Tried      []string // relative to Root
}

// Error implements error.
func (e *MissingDomainError) Error() string {
	return fmt.Sprintf("images: nothing of the domain %s of %s in %s: neither %s",
		e.Domain, e.Collection.Title, e.Root, strings.Join(e.Tried, " nor "))
}

// Unwrap returns [fs.ErrNotExist].
func (e *MissingDomainError) Unwrap() error { return fs.ErrNotExist }

// Open returns the images of a domain, named as in "office31-amazon": those of
// the first of its folders that exists. Nothing there is a [MissingDomainError]; a class without
// an image is a [LayoutError]. Whether the images are as many as published is for
// [Collection.Check] to say.
//
// The folder has a folder of .jpg, .jpeg, .png and .webp files for each class. One that has the
// name of no class is matched without regard to case, spaces, underscores and other signs:
// "Alarm Clock" is the class Alarm_Clock, unless that has a folder of its own. A folder of
// images that is none of the classes, or could be several, is a [LayoutError]; other files are
// ignored.
func (c Collection) Open(root, domain string) (*Set, error) {
	listing, err := c.Scan(root, domain)
	if err != nil {
		return nil, err
	}
	return listing.complete()
}

// Scan is [Collection.Open] for reports: missing and extra classes and files are no
// error, but listed.
func (c Collection) Scan(root, domain string) (*Listing, error) {
	description, err := c.Domain(domain)
	if err != nil {
		return nil, err
	}
	name := c.Name + "-" + domain
	for _, folder := range description.Folders {
		if found, ok := findFolder(root, folder); ok {
			return scanTree(name, root, found, c.Classes)
		}
	}
	return nil, &MissingDomainError{Collection: c, Domain: domain, Root: root, Tried: description.Folders}
}
