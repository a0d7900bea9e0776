// Package seal notices whether a file is the one that was written: it states the SHA-256 of
// itself, taken with zeros in its own place. Formats such as JSON and safetensors would not
// notice a flipped bit.
package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
)

// Zeros stand in the seal's place until it is known.
var Zeros = strings.Repeat("0", 2*sha256.Size)

// ErrNone is the error for a file without a seal.
var ErrNone = errors.New("it does not state its SHA-256")

// Place returns where in a file the seal stands: behind the first text that is before, such
// as `"sha256":"`.
func Place(content []byte, before string) (int, error) {
	at := bytes.Index(content, []byte(before))
	if at < 0 || len(content) < at+len(before)+len(Zeros) {
		return 0, ErrNone
	}
	return at + len(before), nil
}

// Set writes the seal of a whole file into its place, which holds zeros.
func Set(content []byte, before string) error {
	place, err := Place(content, before)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	hex.Encode(content[place:], sum[:])
	return nil
}

// Check returns an error if a file is not the one that its seal was made for.
func Check(content []byte, before string) error {
	place, err := Place(content, before)
	if err != nil {
		return err
	}
	sum := sha256.New()
	sum.Write(content[:place])
	io.WriteString(sum, Zeros)
	sum.Write(content[place+len(Zeros):])
	if found := hex.EncodeToString(sum.Sum(nil)); found != string(content[place:place+len(Zeros)]) {
		return errors.New("its SHA-256 is not the one that it states: it is damaged or was changed")
	}
	return nil
}
