// Command coverage counts on synthetic label shifts how often 95% intervals hold the true class
// shares and weights and how often the test of label shift rejects at 5%, with the defaults of
// iwrun labelshift: of rows on their own, and in the other grids of groups of rows, rare classes, many classes
// and classifiers that say exactly 0, with accuracies, precisions, prediction sets and the other tests.
//
//	go run ./research/bench/coverage [-grid NAME] [-draws N] [-only PATTERN] [-tests] [-o FILE.json] [-page FILE.md]
//
// A cell that the JSON file has with as many draws is not measured again, and the file is written
// after each cell, so that a run that was ended goes on. The page gets the table between the
// comments <!-- coverage GRID --> and <!-- /coverage -->. With -tests the test of label shift alone is counted
// anew in cells that have been counted, which takes a hundredth of the time.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"iwda/internal/wholefile"
)

func main() {
	draws := flag.Int("draws", 500, "synthetic samples of each cell")
	grid := flag.String("grid", "rows", "rows, groups, rare, many or zeros")
	only := flag.String("only", ".", "cells whose name, as in \"k=10 n=200 m=200 calibrated\", matches this regular expression")
	tests := flag.Bool("tests", false, "count the test of label shift alone, again, of cells that have been counted")
	file := flag.String("o", "research/coverage.json", "what was counted")
	page := flag.String("page", "", "page with the table; research/labelshift.md for rows, and research/coverage.md for others")
	flag.Parse()
	if *page == "" {
		*page = "research/coverage.md"
		if *grid == "rows" {
			*page = "research/labelshift.md"
		}
	}
	if err := run(*grid, *draws, *only, *tests, *file, *page); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(grid string, draws int, only string, tests bool, file, page string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	counted, err := read(file)
	if err != nil {
		return err
	}
	for _, c := range cells(grid) {
		known := counted[c.String()]
		if !pattern.MatchString(c.String()) || tests && known.Draws == 0 || !tests && known.Draws >= draws {
			continue
		}
		tally, err := c.measure(draws, tests)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		if tests {
			known.Tested, known.Rejected = tally.Tested, tally.Rejected
			tally = known
		}
		fmt.Fprintln(os.Stderr, c, tally, "|", tally.rest())
		counted[c.String()] = tally
		if err := write(file, counted); err != nil {
			return err
		}
	}
	return publish(page, grid, counted)
}

func read(file string) (map[string]tally, error) {
	counted := make(map[string]tally)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return counted, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &counted)
	}
	return counted, err
}

func write(file string, counted map[string]tally) error {
	text, err := json.MarshalIndent(counted, "", "\t")
	if err != nil {
		return err
	}
	return wholefile.Write(file, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// measure counts over draws, on all processors.
func (c cell) measure(draws int, testAlone bool) (tally, error) {
	seeds := make(chan int)
	go func() {
		for seed := range draws {
			seeds <- seed
		}
		close(seeds)
	}()
	var lock sync.Mutex
	var all sync.WaitGroup
	sum, failed := newTally(c.classes), error(nil)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for seed := range seeds {
				one, err := c.draw(uint64(seed), testAlone)
				lock.Lock()
				if err != nil {
					failed = errors.Join(failed, fmt.Errorf("seed %d: %w", seed, err))
				} else {
					sum.add(one)
				}
				lock.Unlock()
			}
		})
	}
	all.Wait()
	return sum, failed
}

// publish writes the table of all cells that were counted into the page.
func publish(page, grid string, counted map[string]tally) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	const last = "<!-- /coverage -->"
	first := "<!-- coverage " + grid + " -->\n"
	before, rest, found := strings.Cut(string(text), first)
	_, after, ended := strings.Cut(rest, last)
	if !found || !ended {
		return fmt.Errorf("%s has no comments %sand %s", page, first, last)
	}
	if grid != "rows" {
		table := "| cell | draws | shares | all shares | label shift rejects | others |\n| --- | ---: | ---: | ---: | ---: | --- |\n"
		for _, c := range cells(grid) {
			if t, is := counted[c.String()]; is {
				table += t.line(c)
			}
		}
		return os.WriteFile(page, []byte(before+first+table+"\n"+misses(cells(grid), counted)+last+after), 0o666)
	}
	table := "| k | n | m | classifier | draws | shares | weights | all shares, all weights | test rejects |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
	for _, c := range cells("rows") {
		if t, is := counted[c.String()]; is {
			table += fmt.Sprintf("| %d | %d | %d | %s | %d | %s |\n", c.classes, c.source, c.target, c.kind(), t.Draws, t)
		}
	}
	return os.WriteFile(page, []byte(before+first+table+last+after), 0o666)
}
