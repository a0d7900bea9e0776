package store

import (
	"fmt"
	"os"
)

// Place is a folder in which a command works for long.
type Place struct {
	path string
	was  os.FileInfo // nil if there was none
}

// PlaceOf returns the place of a folder as it is now.
func PlaceOf(folder string) Place {
	info, err := os.Stat(folder)
	if err != nil {
		return Place{folder, nil}
	}
	return Place{folder, info}
}

// Check returns an error if another folder, or none, is there now: somebody has moved, deleted or replaced
// it, and what is written would not be with the rest.
func (p Place) Check() error {
	if p.was == nil {
		return nil
	}
	if now, err := os.Stat(p.path); err != nil || !os.SameFile(p.was, now) {
		return fmt.Errorf("%s was moved, deleted or replaced while the command ran: nothing more is written there; to go on, give the same command with -o and the folder's new place", p.path)
	}
	return nil
}
