package commandline

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// Given shows paths as somebody gave them where a message has them in full.
type Given struct{ *strings.Replacer }

// AsGiven returns that of some paths, which may be empty.
func AsGiven(paths ...string) Given {
	var pairs []string
	for _, path := range paths {
		if full, err := filepath.Abs(path); err == nil && path != "" {
			pairs = append(pairs, full, path)
		}
	}
	return Given{strings.NewReplacer(pairs...)}
}

// Error is an error that wraps another and says the same.
func (g Given) Error(err error) error {
	if err == nil {
		return nil
	}
	return givenError{err, g}
}

type givenError struct {
	error
	given Given
}

func (e givenError) Error() string { return e.given.Replace(e.error.Error()) }
func (e givenError) Unwrap() error { return e.error }

// As gives the path in the error of a file, too, as it was given.
func (e givenError) As(target any) bool {
	to, is := target.(**fs.PathError)
	if !is || !errors.As(e.error, to) {
		return false
	}
	given := **to
	given.Path = e.given.Replace(given.Path)
	*to = &given
	return true
}

// Writer writes whole texts to another writer.
func (g Given) Writer(to io.Writer) io.Writer { return givenWriter{to, g} }

type givenWriter struct {
	io.Writer
	given Given
}

func (w givenWriter) Write(text []byte) (int, error) {
	if _, err := w.given.WriteString(w.Writer, string(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}
