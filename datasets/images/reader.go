package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"iwda/datasets/internal/kernel"
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
	// Cache keeps the resized images: one of [CacheNames], or none for the empty text.
	Cache string
	// Folder is where a [FileCache] lies. It is made where it is missing.
	Folder string
}

// Reader reads the images of a [Set], each resized to a square with both sides
// scaled on their own, as bytes of RGB. Its methods may be called from several
// goroutines at once.
type Reader struct {
	set   *Set
	side  int
	cache *cache          // nil for none
	found []atomic.Uint32 // the traits of each image that was read
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

// NewReader returns a reader of a set. [Reader.Close] gives the cache's memory back.
//
// With a cache, a file that is missing is an error; with a [FileCache], so is a
// folder without room for the whole of it.
func NewReader(set *Set, options ReaderOptions) (*Reader, error) {
	side := options.Side
	if side <= 0 {
		return nil, fmt.Errorf("images: side of %d pixels, want a positive number", side)
	}
	cache, err := openCache(set, side, options)
	if err != nil {
		return nil, err
	}
	return &Reader{set: set, side: side, cache: cache, found: make([]atomic.Uint32, set.Len())}, nil
}

// Notes says in sentences what there is to know of the images that were read so far, of a user's own
// files: how many are transparent, animations, or almost black as only the upper 8 of 16 bits count.
func (r *Reader) Notes() []string {
	return r.set.notes(func(i int) traits { return traits(r.found[i].Load()) })
}

// Set returns the set that is read.
func (r *Reader) Set() *Set { return r.set }

// CacheBytes returns the size of all resized images, which the full cache holds, and 0
// where there is no cache. One in memory grows up to it; a file has it from the
// start.
func (r *Reader) CacheBytes() int64 { return r.cache.size() }

// Close gives the memory of the cache back. Reading goes on without one.
func (r *Reader) Close() error { return r.cache.close() }

// read writes image i, resized to dst's size, to dst. A file that is missing, damaged or no image
// is an error that does not name it.
func (r *Reader) read(dst *RGB, i int, s *scratch) error {
	found, cached := r.cache.load(dst.Pix, i)
	if !cached {
		var err error
		if found, err = s.decode(r.set, i); err != nil {
			return err
		}
		s.resize(dst, &s.decoded, kernel.Bicubic)
		r.cache.store(dst.Pix, i, found)
	}
	r.found[i].Store(uint32(found))
	return nil
}

// Broken reads every image, which fills the cache, and returns the files that cannot be read, in
// the set's order. The only error is the context's.
func (r *Reader) Broken(ctx context.Context) ([]*FileError, error) {
	return r.set.each(ctx, func(own *scratch, i int) error {
		own.square.reshape(r.side, r.side)
		return r.read(&own.square, i, own)
	})
}

// Unreadable is the error of files that cannot be read, nil for none.
func Unreadable(broken []*FileError) error {
	var named []string
	for _, file := range broken {
		named = append(named, file.Error())
	}
	if named == nil {
		return nil
	}
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
