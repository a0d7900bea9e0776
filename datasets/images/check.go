package images

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Report is how a local copy of a data set compares with its description.
type Report struct {
	Collection Collection
	Domains    []DomainReport // in the order of Collection.Domains
}

// DomainReport is the part of a [Report] on one domain.
type DomainReport struct {
	Domain Domain
	// Err says why nothing of the domain could be read, as a [MissingDomainError] does. The
	// fields below are empty then.
	Err error
	// Listing is what files there are.
	Listing *Listing
	// Counts are the numbers of images found, in label order, to compare with
	// Domain.Counts.
	Counts []int
	// Broken are the images that cannot be decoded, in the listing's order.
	Broken []*FileError
}

// OK reports whether the copy is the published data set, whole and readable. Extra
// files that no class asks for do not matter.
func (r *Report) OK() bool {
	return !slices.ContainsFunc(r.Domains, func(d DomainReport) bool { return !d.OK() })
}

// OK reports whether the domain has the images that are published, all readable.
func (d *DomainReport) OK() bool {
	if d.Err != nil || len(d.Broken) > 0 || !slices.Equal(d.Counts, d.Domain.Counts) {
		return false
	}
	_, err := d.Listing.complete()
	return err == nil
}

// Write lists, domain by domain, what differs from the published data.
func (r *Report) Write(w io.Writer) error {
	var text strings.Builder
	for _, d := range r.Domains {
		d.write(&text, r.Collection.Classes)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (d *DomainReport) write(w io.Writer, classes []string) {
	if d.Err != nil {
		fmt.Fprintf(w, "%s: %v\n", d.Domain.Name, d.Err)
		return
	}
	verdict := "as published"
	if !d.OK() {
		verdict = "not as published"
	}
	fmt.Fprintf(w, "%s: %d of %d images, %s\n", d.Domain.Name, d.Listing.Set.Len(), d.Domain.Total(), verdict)
	for class, n := range d.Counts {
		if want := d.Domain.Counts[class]; n != want {
			fmt.Fprintf(w, "  %s: %d images, want %d\n", classes[class], n, want)
		}
	}
	for _, part := range []struct {
		what  string
		paths []string
	}{{"of no class", d.Listing.ExtraFolders}, {"extra", d.Listing.ExtraFiles}} {
		for _, path := range part.paths {
			fmt.Fprintf(w, "  %s: %s\n", part.what, path)
		}
	}
	for _, broken := range d.Broken {
		fmt.Fprintf(w, "  broken: %s: %s\n", broken.Path, strings.TrimSpace(broken.Err.Error()))
	}
}

// Check compares what is in the folder root with the description of the data set
// and decodes every image. Where the context ends, Check returns its error; what is wrong
// with the data is in the report.
func (c Collection) Check(ctx context.Context, root string) (*Report, error) {
	report := &Report{Collection: c}
	for _, domain := range c.Domains {
		part := DomainReport{Domain: domain}
		if part.Listing, part.Err = c.Scan(root, domain.Name); part.Err == nil {
			set := part.Listing.Set
			part.Counts = set.Counts()
			var err error
			if part.Broken, err = set.broken(ctx); err != nil {
				return nil, err
			}
		}
		report.Domains = append(report.Domains, part)
	}
	return report, nil
}

// broken decodes every image and returns those that cannot be, in the set's order. The
// only error is the context's.
func (s *Set) broken(ctx context.Context) ([]*FileError, error) {
	broken := make([]*FileError, s.Len())
	rows := make(chan int)
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			var own scratch
			for i := range rows {
				if err := own.decode(s.Path(i)); err != nil {
					broken[i] = &FileError{Path: s.Path(i), Err: err}
				}
			}
		})
	}
	for i := 0; i < s.Len() && ctx.Err() == nil; i++ {
		select {
		case rows <- i:
		case <-ctx.Done():
		}
	}
	close(rows)
	running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(broken, func(e *FileError) bool { return e == nil }), nil
}
