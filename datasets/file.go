package datasets

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// readFile hands the content of a file to parse, with the path as its name.
func readFile[T any](path string, parse func(r io.Reader, name string) (T, error)) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer file.Close()
	return parse(file, path)
}

// decompress returns what a gzip or bzip2 stream holds, and any other stream as it
// is. The first bytes decide, whatever the name of the file.
func decompress(r io.Reader, name string) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
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
		return unzipped, nil
	case string(magic) == "BZh":
		return bzip2.NewReader(buffered), nil
	default:
		return buffered, nil
	}
}
