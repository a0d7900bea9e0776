package images_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"iwda/datasets/images"
	"iwda/internal/allocation"
	"iwda/internal/must"
)

// pngWith is a PNG file of grey pixels that says that size, and has none of them.
func pngWith(width, height uint32) []byte {
	header := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)...)
	header = append(header, 8, 0, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(header))
	return append(file, "\x00\x00\x00\x00IDAT"...)
}

// jpegWith is a JPEG file of grey pixels that says that size and has some scans.
func jpegWith(t *testing.T, width, height uint16, scans int) []byte {
	file := jpegFile(t, shaded(8, 8, 1))
	frame := bytes.Index(file, []byte("\xff\xc0"))
	binary.BigEndian.PutUint16(file[frame+5:], height)
	binary.BigEndian.PutUint16(file[frame+7:], width)
	return append(file, strings.Repeat("\xff\xda", scans-1)...)
}

// webpWith is a WebP file without loss that says that size, and has no pixels.
func webpWith(width, height uint32) []byte {
	header := []byte("VP8L\x06\x00\x00\x00\x2f")
	header = binary.LittleEndian.AppendUint32(header, width-1|(height-1)<<14)
	return riff(append(header, 0))
}

// extendedWebP is a WebP file of those flags that says that size before the chunks.
func extendedWebP(flags byte, width, height uint32, chunks ...byte) []byte {
	header := []byte{'V', 'P', '8', 'X', 10, 0, 0, 0, flags, 0, 0, 0}
	header = append(header, byte(width-1), byte((width-1)>>8), byte((width-1)>>16))
	header = append(header, byte(height-1), byte((height-1)>>8), byte((height-1)>>16))
	return riff(append(header, chunks...))
}

func riff(chunks []byte) []byte {
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(chunks)))
	return append(append(file, "WEBP"...), chunks...)
}

// A header alone does not make the reader take memory for an image that the file cannot
// hold.
func TestHeadersThatPromiseTooMuch(t *testing.T) {
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"64 megapixels":          {pngWith(8_000, 8_000), "8000×8000 pixels in a file of"},
		"more than any":          {pngWith(60_000, 60_000), "60000×60000 pixels; scale it down"},
		"a column":               {pngWith(1, 4_000_000), "1×4000000 pixels; scale it down"},
		"in many bytes":          {append(pngWith(8200, 8200), make([]byte, 1<<20)...), "8200×8200 pixels; scale it down to a side of 65535 and 67 million"},
		"the longest PNG":        {pngWith(1<<31-1, 1<<31-1), "dimension overflow"},
		"64 megapixels, J":       {jpegWith(t, 8_000, 8_000, 1), "8000×8000 pixels in a file of"},
		"a thousand scans":       {jpegWith(t, 8, 8, 1000), "1000 scans"},
		"64 megapixels, W":       {webpWith(8_000, 8_000), "8000×8000 pixels in a file of"},
		"another size before":    {extendedWebP(0, 9, 9, webpWith(8_000, 8_000)[12:]...), "webp: invalid format"},
		"transparent megapixels": {extendedWebP(1<<4, 8_000, 8_000), "8000×8000 pixels in a file of"},
		"a chunk of gigabytes":   {[]byte("RIFF\x14\xff\xff\xffWEBPVP8 \x00\xff\xff\x7f\x10\x00\x00\x9d\x01\x2a\x08\x00\x08\x00"), "unexpected EOF"},
		"an animation":           {extendedWebP(1<<1, 9, 9), "an animation"},
	} {
		allocation.Within(t, 1<<20, func() {
			if _, err := images.Decode(test.file); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want one with %q", name, err, test.want)
			}
		})
	}
}

// A JPEG file may say that it has no rows or columns.
func TestImagesWithoutPixels(t *testing.T) {
	for _, c := range readPillow(t).Decode {
		for _, marker := range []string{"\xff\xc0", "\xff\xc2"} { // of frames, baseline and progressive
			at := bytes.Index(c.File, []byte(marker))
			if at < 0 || !bytes.HasPrefix(c.File, []byte("\xff\xd8\xff")) {
				continue
			}
			for _, size := range []int{at + 5, at + 7} { // the height, the width
				file := bytes.Clone(c.File)
				file[size], file[size+1] = 0, 0
				if _, err := images.Decode(file); err == nil {
					t.Errorf("%s: an image without pixels was read", c.Name)
				}
			}
		}
	}
}

// The names of classes are looked for among the folders that are there, so that none
// leads elsewhere.
func TestClassesStayInTheirFolder(t *testing.T) {
	root := t.TempDir()
	write(t, root, "outside/1.jpg", nil)
	write(t, root, "domain/cat/1.jpg", nil)
	for _, class := range []string{"../outside", "/outside", "..", "."} {
		_, err := openTree(root, "domain", "cat", class)
		if err == nil || !strings.Contains(err.Error(), "no images of "+class) {
			t.Errorf("class %q: error %v", class, err)
		}
	}
}

// A pipe that nobody writes to, under the name of an image, is an error, not a wait
// without end.
func TestOnlyFilesAreOpened(t *testing.T) {
	root := t.TempDir()
	write(t, root, "domain/cat/1.jpg", nil)
	must.Do(t, unix.Mkfifo(filepath.Join(root, "domain", "cat", "2.jpg"), 0o600))
	set := tree(t, root, "domain", "cat")
	reader := newReader(t, set, images.ReaderOptions{Side: 8})
	for _, err := range reader.Batches(t.Context(), images.ViewOptions{Rows: []int{1}, BatchSize: 1, Crop: 8}) {
		must.Fail(t, err, "2.jpg: neither a JPEG")
	}
}
