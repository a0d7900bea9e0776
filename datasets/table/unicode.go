package table

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decoded is the text of a file in UTF-8 without the mark that may be in front of it, which says
// that it is UTF-8, or UTF-16, as Windows and Excel write it.
func decoded(r *bufio.Reader) *bufio.Reader {
	mark, _ := r.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		text := transform.NewReader(&evenReader{Reader: r}, unicode.BOMOverride(transform.Nop))
		return bufio.NewReaderSize(text, r.Size())
	case string(mark) == "\xef\xbb\xbf":
		_, _ = r.Discard(len(mark)) // what Peek has seen is there
	}
	return r
}

// evenReader fails at the end if the number of bytes is odd.
type evenReader struct {
	io.Reader
	read int
}

func (e *evenReader) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if e.read += n; err == io.EOF && e.read%2 == 1 {
		err = errors.New("UTF-16 of an odd number of bytes")
	}
	return n, err
}

// ErrNotUTF8 says what is wrong with a text of another encoding.
var ErrNotUTF8 = errors.New(`is not UTF-8; save it as "CSV UTF-8", or convert it: iconv -f WINDOWS-1252 -t UTF-8`)
