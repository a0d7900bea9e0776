package images

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// exists reports whether there is a file of that path below root or behind a link.
func exists(root, file string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(file)))
	return err == nil
}

// eachLine calls f for every line of a list that is not empty, without the blanks around it.
// Errors name the list and the line.
func eachLine(r io.Reader, name string, f func(number int, text string) error) error {
	scanner := bufio.NewScanner(r)
	number := 1
	for ; scanner.Scan(); number++ {
		text := strings.TrimSpace(scanner.Text())
		if text == "" {
			continue
		}
		if err := f(number, text); err != nil {
			return fmt.Errorf("images: %s:%d: %w", name, number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("images: %s:%d: %w", name, number, err)
	}
	return nil
}

// parsePath returns the path that a list names, which must stay in the folder that it is
// relative to.
func parsePath(text string) (string, error) {
	file := strings.TrimSpace(text)
	if strings.ContainsRune(file, 0) {
		return "", errors.New("a path with a zero byte")
	}
	if path.IsAbs(file) || !filepath.IsLocal(filepath.FromSlash(file)) {
		return "", fmt.Errorf("the path %.200q leaves the folder that paths are relative to", file)
	}
	return path.Clean(file), nil
}
