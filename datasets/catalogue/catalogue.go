// Package catalogue knows the data sets by their names: one file each.
//
// A [Dataset] says what the data set is called, here and by papers, its domains, tasks
// and classes, what its rows are, what an experiment on it assumes, what the user has
// to provide, and opens it. To add one, write its file and name it in [All].
package catalogue

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"iwda/datasets"
	"iwda/internal/convert"
	"iwda/internal/printable"
)

// Kind is what the rows of a data set are, which decides how it is opened and which
// networks take it.
type Kind int

const (
	// SmallImages are images of shape {1, 28, 28} in memory.
	SmallImages Kind = iota + 1
	// Vectors are rows of numbers in memory, such as features.
	Vectors
	// ImageFiles are files of images, read when they are needed.
	ImageFiles
)

// Of counts what data of the kind consist of: 12 rows, 1 image.
func (k Kind) Of(n int) string {
	if k == Vectors {
		return printable.Count(n, "row")
	}
	return printable.Count(n, "image")
}

// Dataset is all that the program knows of a data set.
type Dataset struct {
	Name  string // as configurations name it: "office31"
	Title string // as papers name it in a text: "VisDA-2017"
	Kind  Kind

	// Classes are the names of the classes in label order, nil where the files say
	// how many there are.
	Classes []string
	// Domains are nil where they are files that the user names.
	Domains []Domain
	// Tasks are the pairs source-target of domains that can be trained; nil where
	// Domains is: any two files are a task then.
	Tasks []string
	// Root is the folder of the data where a configuration names none; variables of
	// the form ${NAME:-default} are for the reader to expand. It is empty where the
	// data are drawn.
	Root string
	// Settings are what an experiment on the data set has instead of the defaults of
	// its kind: a part of an experiment file, in YAML.
	Settings string

	// instructions say, without a newline at the end, what has to be put into the
	// folder root.
	instructions func(root string) string
	// check is [Dataset.Check]; nil where nothing is published to compare with.
	check func(ctx context.Context, root string, out io.Writer) error
	// open opens the train or test set of a domain in memory, nil of image files and of domains that
	// the user names. A test set of nil, without an error, says that the domain has none of its own.
	open func(domain, split string, source Source) (datasets.Set, error)
	// files are those of domains that the user names.
	files fileDomains
}

// Domain is a domain of a data set.
type Domain struct {
	Name string // as tasks name it: "mnist"
	// Train and Test are the published numbers of images of each class, in label
	// order, of the set that is trained on and of the test set. They are nil where
	// there is no such set, or where its numbers are the user's choice.
	Train, Test []int

	// folders are those that may hold a folder a class of image files, relative to the root,
	// the one of the public archive first.
	folders []string
}

// The sets of a domain.
const (
	trainSplit = "train"
	testSplit  = "test"
)

// All returns every data set, the paper's digits first.
func All() []Dataset {
	return []Dataset{digits(), glyphs(), office31(), officeHome(), visda(), ownFiles()}
}

// Names returns the names of all data sets, in their order.
func Names() []string {
	return convert.Each(All(), func(d Dataset) string { return d.Name })
}

// Find returns the data set of that name, and an error that lists the known ones where
// there is none.
func Find(name string) (Dataset, error) {
	for _, d := range All() {
		if d.Name == name {
			return d, nil
		}
	}
	return Dataset{}, fmt.Errorf("no data set %q; known are %s", name, strings.Join(Names(), ", "))
}

// Domain returns the domain of that name, and an error that lists the domains where
// there is none.
func (d Dataset) Domain(name string) (Domain, error) {
	var names []string
	for _, domain := range d.Domains {
		if domain.Name == name {
			return domain, nil
		}
		names = append(names, domain.Name)
	}
	return Domain{}, fmt.Errorf("%s has no domain %q; it has %s", d.Name, name, strings.Join(names, ", "))
}

// Unpublished says of the numbers of images of each class of a domain's training and test sets in
// how far they are not the published ones, as in "amazon: 310 of 2817 images"; it is "" if they are,
// or if nothing is published. nil stands for a set that was not read.
func (d Dataset) Unpublished(domain string, train, test []int) string {
	published, err := d.Domain(domain)
	if err != nil {
		return ""
	}
	for _, set := range []struct {
		name             string
		there, published []int
	}{{"", train, published.Train}, {" (test set)", test, published.Test}} {
		switch there, all := sum(set.there), sum(set.published); {
		case set.there == nil || set.published == nil || slices.Equal(set.there, set.published):
		case there == all:
			return fmt.Sprintf("%s%s: %s, in other numbers of a class", domain, set.name, printable.Count(all, "image"))
		default:
			return fmt.Sprintf("%s%s: %d of %d images", domain, set.name, there, all)
		}
	}
	return ""
}

// Drawn reports whether the program makes the data itself, so that there is no folder
// of them.
func (d Dataset) Drawn() bool { return d.Root == "" }

// Instructions says, without a newline at the end, what has to be put into the folder
// root, and from where.
func (d Dataset) Instructions(root string) string { return d.instructions(root) }

// Checkable reports whether there is published data that [Dataset.Check] can compare
// with.
func (d Dataset) Checkable() bool { return d.check != nil }

// Check compares the copy of the data in the folder root with what is published, reads
// every part of it, and writes to out what it finds. A copy that is not whole is an
// error, and so is a data set that is not [Dataset.Checkable].
func (d Dataset) Check(ctx context.Context, root string, out io.Writer) error {
	if d.check == nil {
		return fmt.Errorf("%s has no published form to compare a copy with", d.Name)
	}
	return d.check(ctx, root, out)
}

// pairs returns the tasks from every domain to every other one.
func pairs(domains []Domain) []string {
	var tasks []string
	for _, source := range domains {
		for _, target := range domains {
			if source.Name != target.Name {
				tasks = append(tasks, source.Name+"-"+target.Name)
			}
		}
	}
	return tasks
}
