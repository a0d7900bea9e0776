package images

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Collection describes a published collection of images: the facts that tell whether a
// local copy is whole.
type Collection struct {
	Name    string   // in names of sets: "office31"
	Title   string   // as its publication names it: "Office-31"
	Source  string   // the publication and the names of the archives
	Example string   // the path of one image, relative to the root
	Classes []string // in label order
	Domains []Domain
}

// Domain describes one domain of a [Collection].
type Domain struct {
	Name string // as in "amazon"
	// Folders are the folders that may hold a folder a class, relative to the
	// root, the one of the public archive first.
	Folders []string
	// Counts are the numbers of images of each class, in label order.
	Counts []int
}

// Total returns the number of images of the domain.
func (d Domain) Total() int {
	total := 0
	for _, count := range d.Counts {
		total += count
	}
	return total
}

// Domain returns the description of one of the domains, and an error that lists
// them where there is none of that name.
func (c Collection) Domain(name string) (Domain, error) {
	var names []string
	for _, domain := range c.Domains {
		if domain.Name == name {
			return domain, nil
		}
		names = append(names, domain.Name)
	}
	return Domain{}, fmt.Errorf("images: %s has no domain %q; it has %s", c.Title, name, strings.Join(names, ", "))
}

// Instructions says in four lines, without a newline at the end, what has to be
// put into the folder root, and from where.
func (c Collection) Instructions(root string) string {
	total := 0
	folders := make([]string, len(c.Domains))
	for i, domain := range c.Domains {
		total += domain.Total()
		folders[i] = fmt.Sprintf("%s (%d images)", domain.Folders[0], domain.Total())
	}
	return strings.Join([]string{
		fmt.Sprintf("%s: %d images of %d classes in %d domains.", c.Title, total, len(c.Classes), len(c.Domains)),
		"Source: " + c.Source + ".",
		fmt.Sprintf("Unpack into %s, so that there is, as an example, %s.", root, filepath.Join(root, filepath.FromSlash(c.Example))),
		"Folders, each with a folder a class: " + strings.Join(folders, ", ") + ".",
	}, "\n")
}
