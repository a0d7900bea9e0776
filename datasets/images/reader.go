package images

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"iwda/datasets/internal/kernel"
	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// maxFileSize is the size from which a file is not taken for an image.
const maxFileSize = 1 << 28

// FileError says that a file cannot be read as an image.
type FileError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *FileError) Error() string { return fmt.Sprintf("images: %s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong with the file.
func (e *FileError) Unwrap() error { return e.Err }

// ReaderOptions says how a [Reader] reads.
type ReaderOptions struct {
	// Side is the side of the squares that images are resized to, in pixels.
	Side int
	// Keep has resized images kept in memory, as many as mostKept holds: their files are decoded once.
	Keep bool
}

// mostKept bounds the bytes of the images that a reader keeps, 1,365 of 256×256 pixels.
const mostKept = 256 << 20

// Reader reads the images of a [Set], each resized to a square with both sides
// scaled on their own, as bytes of RGB. Its methods may be called from several
// goroutines at once.
type Reader struct {
	set   *Set
	side  int
	found []atomic.Uint32          // the traits of each image that was read
	kept  []atomic.Pointer[[]byte] // images that were read; nil for those that are not kept
	room  atomic.Int64             // bytes for more of them, below 0 for none
}

// scratch is the memory that reading one image takes.
type scratch struct {
	file    []byte
	decoded RGB
	square  RGB
	crop    RGB
	resizer kernel.Resizer
}

// resize writes src, resized to the size of dst, to dst.
func (s *scratch) resize(dst, src *RGB, filter kernel.Filter) {
	s.resizer.Resize(kernel.Picture(*dst), kernel.Picture(*src), 3, filter)
}

// NewReader returns a reader of a set. [Reader.Close] gives the memory of images that it keeps back.
func NewReader(set *Set, options ReaderOptions) (*Reader, error) {
	side := options.Side
	if side <= 0 {
		return nil, fmt.Errorf("images: side of %d pixels, want a positive number", side)
	}
	r := &Reader{set: set, side: side, found: make([]atomic.Uint32, set.Len()), kept: make([]atomic.Pointer[[]byte], set.Len())}
	if options.Keep {
		r.room.Store(mostKept)
	}
	return r, nil
}

// Notes says in sentences what there is to know of the images that were read so far, of a user's own
// files: how many are transparent, animations, or almost black as only the upper 8 of 16 bits count.
func (r *Reader) Notes() []string {
	return r.set.notes(func(i int) traits { return traits(r.found[i].Load()) })
}

// Set returns the set that is read.
func (r *Reader) Set() *Set { return r.set }

// Close forgets the images that are kept. Reading goes on without them. There is no error.
func (r *Reader) Close() error {
	r.room.Store(-1)
	for i := range r.kept {
		r.kept[i].Store(nil)
	}
	return nil
}

// read writes image i, resized to dst's size, to dst. A file that is missing, damaged or no image
// is an error that does not name it.
func (r *Reader) read(dst *RGB, i int, s *scratch) error {
	if kept := r.kept[i].Load(); kept != nil {
		copy(dst.Pix, *kept)
		return nil
	}
	found, err := s.decode(r.set, i)
	if err != nil {
		return err
	}
	s.resize(dst, &s.decoded, kernel.Bicubic)
	r.found[i].Store(uint32(found))
	if r.room.Load() > 0 && r.room.Add(-int64(len(dst.Pix))) >= 0 {
		pixels := bytes.Clone(dst.Pix)
		r.kept[i].Store(&pixels)
	}
	return nil
}

// Unreadable is the error of files that cannot be read, nil for none.
func Unreadable(broken []*FileError) error {
	if broken == nil {
		return nil
	}
	named := convert.Each(broken, (*FileError).Error)
	return fmt.Errorf("%s cannot be read: %s: take them out of the folder, or repair them", printable.Count(len(named), "image"), printable.FirstTen(named))
}

// decode reads image i of a set into s.decoded and returns its traits.
func (s *scratch) decode(set *Set, i int) (traits, error) {
	file, err := set.open(i)
	if errors.Is(err, input.ErrNotFile) {
		return 0, errFormat
	} else if err != nil {
		return 0, withoutPath(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, withoutPath(err)
	}
	if info.Size() > maxFileSize {
		return 0, errFormat
	}
	s.file = grown(s.file, int(info.Size()))
	if _, err := io.ReadFull(file, s.file); err != nil {
		return 0, withoutPath(err)
	}
	return s.decoded.decode(s.file, set.own)
}

// withoutPath strips an error of the path, which a [FileError] names.
func withoutPath(err error) error {
	if pathError := (*os.PathError)(nil); errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
