// Command coverage measures on synthetic label shifts how often intervals hold the true
// class shares and weights, and how often the tests of shift reject, and writes both as
// tables into a page. Each cell's lines are written when it has been measured and take the
// place of those that the page had of it; the others stay, so that cells can be measured
// one after the other.
//
//	go run ./research/bench/coverage [-draws N] [-only PATTERN] [-o FILE.md]
//
// Every draw is a new source and target sample of Gaussian classes, see cell. A table
// stands between two comments of the page, as in <!-- coverage --> … <!-- /coverage -->.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	draws := flag.Int("draws", 1000, "synthetic samples of each cell")
	only := flag.String("only", ".", "cells whose name, as in \"coverage k=10 n=200\", matches this regular expression")
	page := flag.String("o", "research/labelshift.md", "page with the tables")
	flag.Parse()
	if err := run(*draws, *only, *page); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(draws int, only, page string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	for _, table := range []struct {
		name, head string
		measure    func(cell, int) ([]string, error)
	}{
		{"coverage", coverageHead, measureCoverage},
		{"rejections", rejectionsHead, measureRejections},
	} {
		for _, c := range cells {
			if !pattern.MatchString(fmt.Sprintf("%s %v", table.name, c)) {
				continue
			}
			measured, err := table.measure(c, draws)
			if err != nil {
				return fmt.Errorf("%s %v: %w", table.name, c, err)
			}
			fmt.Fprintln(os.Stderr, strings.Join(measured, "\n"))
			if err := replaceCell(page, table.name, table.head, c, measured); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceCell writes a cell's lines into the table between the page's two comments of its
// name, whose other cells it keeps.
func replaceCell(page, name, head string, measured cell, measurements []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), "<!-- "+name+" -->\n")
	former, after, ended := strings.Cut(rest, "<!-- /"+name+" -->")
	if !found || !ended {
		return fmt.Errorf("%s has no comments <!-- %s --> and <!-- /%s -->", page, name, name)
	}
	lines := []string{head}
	for _, c := range cells {
		if c == measured {
			lines = append(lines, measurements...)
			continue
		}
		for line := range strings.Lines(former) {
			if strings.HasPrefix(line, fmt.Sprintf("| %d | %s |", c.classes, c.rows())) {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	text = []byte(before + "<!-- " + name + " -->\n" + strings.Join(lines, "\n") + "\n<!-- /" + name + " -->" + after)
	return os.WriteFile(page, text, 0o666)
}
