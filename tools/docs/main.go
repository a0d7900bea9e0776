// Command docs writes the pages of docs/reference that follow from the code: configuration.md,
// estimators.md and criteria.md. It runs in the root of the repository, and needs no libtorch. Its tests
// check that these are current, and the words, sentences and links of all pages.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// write writes the pages of the repository at root.
func write(root string) error {
	generated, err := pages(root)
	if err != nil {
		return err
	}
	for name, text := range generated {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
