package images

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Dataset describes a published collection of images: the facts that tell whether a
// local copy is whole.
type Dataset struct {
	Name    string   // as configurations name it: "office31"
	Title   string   // as papers name it: "Office-31"
	Source  string   // the publication and the names of the archives
	Example string   // the path of one image, relative to the root
	Classes []string // in label order
	Domains []Domain
}

// Domain describes one domain of a [Dataset].
type Domain struct {
	Name string // as configurations name it: "amazon"
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

// Lists returns the names of the list files that may describe the domain, in the
// root of the data: see [OpenList] for their format.
func (d Domain) Lists() []string { return []string{d.Name + ".txt", d.Name + "_list.txt"} }

// Datasets returns the descriptions of every data set known here.
func Datasets() []Dataset { return []Dataset{Office31(), OfficeHome(), VisDA()} }

// Find returns the description of the data set that is called name, and an error
// that lists the known ones where there is none.
func Find(name string) (Dataset, error) {
	var known []string
	for _, dataset := range Datasets() {
		if dataset.Name == name {
			return dataset, nil
		}
		known = append(known, dataset.Name)
	}
	return Dataset{}, fmt.Errorf("images: no data set %q; known are %s", name, strings.Join(known, ", "))
}

// Domain returns the description of one of the domains, and an error that lists
// them where there is none of that name.
func (d Dataset) Domain(name string) (Domain, error) {
	at := slices.IndexFunc(d.Domains, func(domain Domain) bool { return domain.Name == name })
	if at < 0 {
		return Domain{}, fmt.Errorf("images: %s has no domain %q; it has %s", d.Title, name, strings.Join(d.domainNames(), ", "))
	}
	return d.Domains[at], nil
}

func (d Dataset) domainNames() []string {
	names := make([]string, len(d.Domains))
	for i, domain := range d.Domains {
		names[i] = domain.Name
	}
	return names
}

// Instructions says in five lines, without a newline at the end, what has to be
// put into the folder root, and from where.
func (d Dataset) Instructions(root string) string {
	total := 0
	folders := make([]string, len(d.Domains))
	for i, domain := range d.Domains {
		total += domain.Total()
		folders[i] = fmt.Sprintf("%s (%d images)", domain.Folders[0], domain.Total())
	}
	return strings.Join([]string{
		fmt.Sprintf("%s: %d images of %d classes in %d domains.", d.Title, total, len(d.Classes), len(d.Domains)),
		"Source: " + d.Source + ".",
		fmt.Sprintf("Unpack into %s, so that there is, as an example, %s.", root, filepath.Join(root, filepath.FromSlash(d.Example))),
		"Folders, each with a folder a class: " + strings.Join(folders, ", ") + ".",
		fmt.Sprintf("Or list the images, a line \"path label\" each, in %s.", filepath.Join(root, "DOMAIN.txt")),
	}, "\n")
}
