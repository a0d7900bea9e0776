package images

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"iwda/internal/system"
)

// Where a [Reader] keeps the resized images.
const (
	// NoCache decodes a file whenever its image is read.
	NoCache = "none"
	// MemoryCache keeps the images in memory, outside Go's heap, until the reader
	// is closed.
	MemoryCache = "memory"
	// FileCache keeps them in a file that is mapped into memory, so that later
	// readers, in this process or another, at the same time or not, have them too.
	FileCache = "disk"
)

// CacheNames lists the kinds of cache.
func CacheNames() []string { return []string{NoCache, MemoryCache, FileCache} }

// cache is a table of the resized images of a set. Every image has a slot, which
// says of which file the image was made, and guards it with a checksum: an image of
// a file that has changed since, or one that was not written whole, is not found.
// A nil cache finds nothing.
type cache struct {
	imageSize  int
	identities []uint64 // of the files, one an image
	using      sync.Mutex
	slots      []slot
	images     []byte
	mapping    mmap.MMap // slots and images; nil once closed
}

// slot is the entry of one image, as it lies in the file.
type slot struct {
	identity uint64 // 0 where there is no image
	checksum uint64 // and, above its 32 bits, the traits
}

const slotSize = int(unsafe.Sizeof(slot{}))

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func openCache(set *Set, side int, options ReaderOptions) (*cache, error) {
	if cmp.Or(options.Cache, NoCache) == NoCache || set.Len() == 0 {
		return nil, nil
	}
	c := &cache{imageSize: 3 * side * side, identities: make([]uint64, set.Len())}
	err := set.stat(os.Stat, func(i int, info os.FileInfo) { c.identities[i] = identity(set.paths[i], info) })
	if err != nil {
		return nil, err
	}
	// The images start at a page of their own.
	const page = 1 << 12
	start := (slotSize*set.Len() + page - 1) / page * page
	size := start + c.imageSize*set.Len()
	switch options.Cache {
	case MemoryCache:
		c.mapping, err = anonymous(size)
		if err != nil {
			err = fmt.Errorf("images: a cache of %d bytes in memory: %w", size, err)
		}
	case FileCache:
		c.mapping, err = mapFile(options.Folder, cacheName(set, side), size)
	default:
		err = fmt.Errorf("images: no cache %q; there are %s", options.Cache, strings.Join(CacheNames(), ", "))
	}
	if err != nil {
		return nil, err
	}
	c.slots = unsafe.Slice((*slot)(unsafe.Pointer(&c.mapping[0])), set.Len())
	c.images = c.mapping[start:]
	return c, nil
}

// identity tells the states of a file apart: a hash of its path, size and time of
// change, never 0.
func identity(path string, info os.FileInfo) uint64 {
	hash := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", path, info.Size(), info.ModTime().UnixNano()))
	return max(binary.BigEndian.Uint64(hash[:]), 1)
}

// cacheName is the name of the cache file of a set's list of paths and a side.
func cacheName(set *Set, side int) string {
	hash := sha256.New()
	root, err := filepath.Abs(set.root)
	if err != nil {
		root = set.root
	}
	fmt.Fprintf(hash, "images 2\x00%d\x00%s\x00", side, root)
	for _, path := range set.paths {
		fmt.Fprintf(hash, "%s\x00", path)
	}
	return fmt.Sprintf("%s-%d-%x.cache", simplified(set.name), side, hash.Sum(nil)[:8])
}

// mapFile maps a file of the given size, which is made and reserved on the disk
// where it does not exist. Readers that start at the same time wait for each other.
func mapFile(folder, name string, size int) (mmap.MMap, error) {
	path := filepath.Join(folder, name)
	fail := func(err error) (mmap.MMap, error) {
		return nil, fmt.Errorf("images: a cache of %d bytes in the file %s: %w", size, path, withoutPath(err))
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fail(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return fail(err)
	}
	defer file.Close() // the mapping stays
	if err := system.Lock(file, system.Exclusive); err != nil {
		return fail(err)
	}
	// Closing alone would keep the lock for as long as the mapping is there.
	defer system.Lock(file, system.Unlock)
	info, err := file.Stat()
	if err != nil {
		return fail(err)
	}
	if info.Size() != int64(size) {
		if err := reserve(file, int64(size)); err != nil {
			// What was reserved so far would be taken for a cache.
			file.Truncate(0)
			return fail(err)
		}
	}
	mapping, err := mmap.MapRegion(file, size, mmap.RDWR, 0, 0)
	if err != nil {
		return fail(err)
	}
	return mapping, nil
}

func (c *cache) size() int64 {
	if c == nil {
		return 0
	}
	return int64(c.imageSize) * int64(len(c.identities))
}

// load copies image i to dst where the cache has it.
func (c *cache) load(dst []byte, i int) (found traits, cached bool) {
	if c == nil {
		return 0, false
	}
	c.using.Lock()
	defer c.using.Unlock()
	if c.mapping == nil || c.slots[i].identity != c.identities[i] {
		return 0, false
	}
	// Another process may be writing: what counts is what was copied.
	copy(dst, c.image(i))
	sum := c.slots[i].checksum
	found = traits(sum >> 32)
	return found, sum == checksum(dst, found)
}

// store keeps image i with its traits.
func (c *cache) store(src []byte, i int, found traits) {
	if c == nil {
		return
	}
	c.using.Lock()
	defer c.using.Unlock()
	if c.mapping == nil {
		return
	}
	copy(c.image(i), src)
	c.slots[i] = slot{c.identities[i], checksum(src, found)}
}

func (c *cache) image(i int) []byte { return c.images[i*c.imageSize:][:c.imageSize] }

// checksum is that of an image and its traits, with these above.
func checksum(image []byte, found traits) uint64 {
	sum := crc32.Update(crc32.Checksum(image, castagnoli), castagnoli, []byte{byte(found)})
	return uint64(found)<<32 | uint64(sum)
}

// close unmaps the memory; nothing is found from then on.
func (c *cache) close() error {
	if c == nil {
		return nil
	}
	c.using.Lock()
	defer c.using.Unlock()
	if c.mapping == nil {
		return nil
	}
	mapping := c.mapping
	c.mapping, c.slots, c.images = nil, nil, nil
	if err := mapping.Unmap(); err != nil {
		return fmt.Errorf("images: closing a cache: %w", err)
	}
	return nil
}
