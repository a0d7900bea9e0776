// Command docs writes the pages of docs/reference that follow from the code, and checks all
// pages:
//
//	go run ./tools/docs          write configuration.md, estimators.md and criteria.md
//	go run ./tools/docs -check   words, sentences and links of all pages, and whether these are current
//
// It runs in the root of the repository, and needs no libtorch.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"iwda/internal/input"
)

func main() {
	checkOnly := flag.Bool("check", false, "check all pages and write none")
	flag.Parse()
	if err := run(".", *checkOnly); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// run writes or checks the pages of the repository at root.
func run(root string, checkOnly bool) error {
	generated, err := pages(root)
	if err != nil {
		return err
	}
	if !checkOnly {
		for name, text := range generated {
			if err := os.WriteFile(filepath.Join(root, name), text, 0o666); err != nil {
				return err
			}
		}
		return nil
	}
	wrong, err := check(root, generated)
	if err != nil {
		return err
	}
	for _, sentence := range wrong {
		fmt.Fprintln(os.Stderr, sentence)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d defects in pages", len(wrong))
	}
	return nil
}

// check returns everything that is wrong with the pages.
func check(root string, generated map[string][]byte) ([]string, error) {
	var wrong []string
	for name, want := range generated {
		if got, err := input.Read(filepath.Join(root, name), input.Text); err != nil || !bytes.Equal(got, want) {
			wrong = append(wrong, name+" is not what the code gives; make docs writes it")
		}
	}
	read, err := readingOf(root)
	if err != nil {
		return nil, err
	}
	broken, err := brokenLinks(root)
	return append(append(wrong, read...), broken...), err
}
