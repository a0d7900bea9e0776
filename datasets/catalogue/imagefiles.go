package catalogue

import (
	"context"
	"errors"
	"io"

	"iwda/datasets/images"
)

// errNotAsPublished is what remains to be said after a report on images.
var errNotAsPublished = errors.New("the data are not as published")

// imageFiles returns the data set of a published collection of images; heads are the
// domains' names in tables.
func imageFiles(collection images.Collection, head string, heads ...string) Dataset {
	d := Dataset{
		Name: collection.Name, Title: collection.Title, Head: head,
		Kind:         ImageFiles,
		Classes:      collection.Classes,
		Root:         "${IWDA_DATA:-data}/" + collection.Name,
		instructions: collection.Instructions,
		openImages:   collection.Open,
	}
	for i, domain := range collection.Domains {
		d.Domains = append(d.Domains, Domain{Name: domain.Name, Head: heads[i], Train: domain.Counts})
	}
	d.Tasks = pairs(d.Domains)
	d.check = func(ctx context.Context, root string, out io.Writer) error {
		report, err := collection.Check(ctx, root)
		if err != nil {
			return err
		}
		if err := report.Write(out); err != nil {
			return err
		}
		if !report.OK() {
			return errNotAsPublished
		}
		return nil
	}
	return d
}
