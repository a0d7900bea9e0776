package images

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Fingerprint returns the SHA-256, in hexadecimal digits, of the class names and of
// every image's path below the root, label, if it is known, and size in bytes. It opens
// no image: of one that changes without changing its size, it knows nothing. A missing
// file is a [FileError].
func (s *Set) Fingerprint() (string, error) {
	sizes, err := s.sizes()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %q\n", s.Len(), s.classes)
	for i, path := range s.paths {
		label := "?"
		if class, known := s.labels.At(i); known {
			label = strconv.Itoa(class)
		}
		fmt.Fprintf(sum, "%q %s %d\n", path, label, sizes[i])
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sizes asks for the sizes of all files, many at a time: each may be a round trip to
// a file server.
func (s *Set) sizes() ([]int64, error) {
	const askers = 16
	sizes := make([]int64, s.Len())
	errs := make([]error, askers)
	var group sync.WaitGroup
	for asker := range askers {
		group.Go(func() {
			for i := asker; i < s.Len(); i += askers {
				info, err := os.Stat(s.Path(i))
				if err != nil {
					errs[asker] = &FileError{Path: s.Path(i), Err: withoutPath(err)}
					return
				}
				sizes[i] = info.Size()
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sizes, nil
}
