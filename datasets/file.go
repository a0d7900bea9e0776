package datasets

import (
	"bufio"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"

	"iwda/datasets/table"
	"iwda/internal/input"
)

// readFile hands the content of a file to parse, with the path as its name.
func readFile[T any](path string, parse func(r io.Reader, name string) (T, error)) (value T, err error) {
	file, err := input.Open(path)
	if err != nil {
		return value, err
	}
	defer file.Close()
	if value, err = parse(file, path); err != nil {
		err = fmt.Errorf("datasets: %w", err)
	}
	return value, err
}

// decompress returns what a gzip or bzip2 stream holds, and any other stream as it
// is. The first bytes decide, whatever the name of the file. More than a data set
// unpacks to is an error of the reader's.
func decompress(r io.Reader, name string) (io.Reader, error) {
	packed := &counter{Reader: r}
	buffered := bufio.NewReaderSize(packed, 1<<16)
	magic, err := buffered.Peek(3)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("%s: damaged gzip header: %w", name, err)
		}
		return &bounded{Reader: unzipped, packed: packed}, nil
	case string(magic) == "BZh":
		return &bounded{Reader: bzip2.NewReader(buffered), packed: packed}, nil
	default:
		return buffered, nil
	}
}

// counter counts the bytes that were read.
type counter struct {
	io.Reader
	read int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	return n, err
}

// bounded ends with an error where more is unpacked than packed allows.
type bounded struct {
	io.Reader
	packed   *counter
	unpacked int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.unpacked += int64(n)
	if b.unpacked > table.MaxUnpacked(b.packed.read) {
		return 0, table.ErrGrowth
	}
	return n, err
}

// readBody reads exactly size bytes, after which the stream must end. What it allocates
// grows with what has been read.
func readBody(r io.Reader, name string, size int64) ([]byte, error) {
	if size >= math.MaxInt {
		return nil, fmt.Errorf("%s: the header asks for %d bytes, more than this machine can address", name, size)
	}
	body, err := io.ReadAll(io.LimitReader(r, size+1))
	switch got := int64(len(body)); {
	case got > size:
		return nil, fmt.Errorf("%s: more bytes after the %d that the header asks for", name, size)
	case got < size:
		return nil, readError(name, cmp.Or(err, io.EOF), got, size, "header asks for")
	case err != nil:
		return nil, fmt.Errorf("%s: after all %d bytes, at the end of the compressed stream: %w", name, size, err)
	}
	return body, nil
}

// readError says how much of a part of the file could be read.
func readError(name string, err error, got, want int64, part string) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: truncated: %d bytes, want %d (%s): %w", name, got, want, part, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s: after %d of %d bytes (%s): %w", name, got, want, part, err)
}
