package catalogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"iwda/datasets/images"
	"iwda/internal/printable"
)

// imageFiles completes the description of published files of images, that of the data set's
// classes and of the images and folders of its domains. source is the publication and the names
// of the archives, example the path of one image, relative to the root.
func imageFiles(d Dataset, source, example string) Dataset {
	d.Kind, d.Root, d.Tasks = ImageFiles, "${IWDA_DATA:-data}/"+d.Name, pairs(d.Domains)
	d.check = d.checkImages
	d.instructions = func(root string) string {
		total := 0
		folders := make([]string, len(d.Domains))
		for i, domain := range d.Domains {
			n := sum(domain.Train)
			total += n
			folders[i] = fmt.Sprintf("%s (%s)", domain.folders[0], printable.Count(n, "image"))
		}
		return strings.Join([]string{
			fmt.Sprintf("%s: %s of %d classes in %s.", d.Title, printable.Count(total, "image"), len(d.Classes), printable.Count(len(d.Domains), "domain")),
			"Source: " + source + ".",
			fmt.Sprintf("Unpack into %s, so that there is, as an example, %s.", root, filepath.Join(root, filepath.FromSlash(example))),
			"Folders, each with a folder a class: " + strings.Join(folders, ", ") + ".",
		}, "\n")
	}
	return d
}

// published finds the images of a domain, named as in "office31-amazon".
func (d Dataset) published(root, domain string) (*images.Set, error) {
	described, err := d.Domain(domain)
	if err != nil {
		return nil, err
	}
	return images.OpenPublished(d.Name+"-"+domain, root, described.folders, d.Classes)
}

// checkImages is [Dataset.Check]: it decodes every image and lists, domain by domain, what
// differs from the published data. Extra files that no class asks for do not matter.
func (d Dataset) checkImages(ctx context.Context, root string, out io.Writer) error {
	whole := true
	for _, domain := range d.Domains {
		text, asPublished, err := d.checkDomain(ctx, root, domain)
		if err != nil {
			return err
		}
		whole = whole && asPublished
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	if !whole {
		return errors.New("the data are not as published")
	}
	return nil
}

// checkDomain returns what there is to say of a domain's copy. The only error is the context's.
func (d Dataset) checkDomain(ctx context.Context, root string, domain Domain) (said string, asPublished bool, err error) {
	set, err := d.published(root, domain.Name)
	if err != nil {
		return fmt.Sprintf("%s: %v\n", domain.Name, err), false, nil
	}
	_, broken, _, err := set.Inspect(ctx)
	if err != nil {
		return "", false, err
	}
	counts, verdict := set.Counts(), "not as published"
	if asPublished = len(broken) == 0 && slices.Equal(counts, domain.Train); asPublished {
		verdict = "as published"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d of %d images, %s\n", domain.Name, set.Len(), sum(domain.Train), verdict)
	for class, n := range counts {
		if want := domain.Train[class]; n != want {
			fmt.Fprintf(&text, "  %s: %s, want %d\n", d.Classes[class], printable.Count(n, "image"), want)
		}
	}
	for _, said := range set.PassedOver() {
		fmt.Fprintf(&text, "  %s\n", said)
	}
	for _, file := range broken {
		fmt.Fprintf(&text, "  broken: %s: %s\n", file.Path, strings.TrimSpace(file.Err.Error()))
	}
	return text.String(), asPublished, nil
}

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
