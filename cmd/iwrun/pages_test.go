package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

var updatePages = flag.Bool("update", false, "write what commands print into the pages that show it")

var (
	pageBlocks      = regexp.MustCompile("(?ms)^```(python|console)\n(.*?)^```$")
	scriptName      = regexp.MustCompile(`^# ([a-z]+\.py)\n`)
	progressLines   = regexp.MustCompile(`(?m)^(?:\d+/\d+ runs|started |running |finished ).*\n`)
	elisions        = regexp.MustCompile(`(?:…\n)+`)
	durations       = regexp.MustCompile(`\b\d+(?:\.\d+)? ?(?:s|m|min|seconds?|minutes?)\b`)
	printed         = regexp.MustCompile(`\d+(?:\.\d+)?(?:e[-+]\d+)?`)
	blanks          = regexp.MustCompile(`[\s-]+`)
	trailing        = regexp.MustCompile(`(?m)[ \t]+$`)
	pagesCarriedOut = []string{"docs/tutorials/first-adaptation.md", "docs/howto/label-a-few.md", "README.md"}
)

// TestPages carries out the tutorial and what other pages show of it, in one folder: the
// scripts of Python, and the commands in blocks of console, below which stands what they
// print. Words are the same; numbers may differ by as much as other processors' roundings
// make of trainings. Lines of progress are shown as "…".
func TestPages(t *testing.T) {
	root := must.Have(filepath.Abs("../.."))(t)
	program := must.Have(os.Executable())(t)
	bin := t.TempDir()
	wrapper := fmt.Sprintf("#!/bin/sh\n%s=yes exec '%s' \"$@\"\n", asProgram, program)
	must.Do(t, os.WriteFile(filepath.Join(bin, "iwrun"), []byte(wrapper), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Chdir(t.TempDir())
	for _, name := range pagesCarriedOut {
		path := filepath.Join(root, name)
		page := readFile(t, path)
		text := pageBlocks.ReplaceAllStringFunc(page, func(block string) string {
			parts := pageBlocks.FindStringSubmatch(block)
			if parts[1] == "console" {
				return "```console\n" + carriedOut(t, name, parts[2]) + "```"
			}
			if script := scriptName.FindStringSubmatch(parts[2]); script != nil {
				testfiles.Write(t, script[1], parts[2])
			}
			return block
		})
		if *updatePages {
			testfiles.Write(t, path, text)
		}
	}
}

// carriedOut carries out the commands of a block, compares what they print with what the
// block says, and returns the block with what they print.
func carriedOut(t *testing.T, page, block string) string {
	t.Helper()
	folder := must.Have(os.Getwd())(t)
	var now strings.Builder
	for _, command := range strings.Split("\n"+block, "\n$ ")[1:] {
		line, want, _ := strings.Cut(command, "\n")
		out, err := exec.Command("sh", "-c", line).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s: %v\n%s", page, line, err, out)
		}
		got := elisions.ReplaceAllString(progressLines.ReplaceAllString(string(out), "…\n"), "…\n")
		got = strings.ReplaceAll(trailing.ReplaceAllString(got, ""), folder, "/data")
		if !alike(got, want) && !*updatePages {
			t.Errorf("%s: %s prints\n%s\nnot\n%s", page, line, got, want)
		}
		fmt.Fprintf(&now, "$ %s\n%s", line, got)
	}
	return now.String()
}

// The page that explains the first screen shows lines of the one in README.md.
func TestTrustShowsTheFirstScreen(t *testing.T) {
	readme, shown := readFile(t, "../../README.md"), 0
	for _, block := range strings.Split(readFile(t, "../../docs/howto/trust.md"), "\n```\n")[1:] {
		for _, line := range strings.Split(block, "\n") {
			if columns := strings.Contains(line, "  "); columns && !strings.HasPrefix(line, "iwrun") && !strings.Contains(readme, line) {
				t.Errorf("README.md does not have %q", line)
			} else if columns {
				shown++
			}
		}
	}
	if shown < 10 {
		t.Errorf("only %d lines", shown)
	}
}

// alike reports whether two texts have the same words, and numbers that are near each other.
func alike(a, b string) bool {
	a, b = durations.ReplaceAllString(a, "s"), durations.ReplaceAllString(b, "s")
	words := func(text string) string {
		return strings.TrimSpace(blanks.ReplaceAllString(printed.ReplaceAllString(elisions.ReplaceAllString(text, ""), "0"), " "))
	}
	if words(a) != words(b) {
		return false
	}
	of := printed.FindAllString(b, -1)
	for i, text := range printed.FindAllString(a, -1) {
		x, _ := strconv.ParseFloat(text, 64)
		y, _ := strconv.ParseFloat(of[i], 64)
		if math.Abs(x-y) > 0.1+0.15*max(x, y) {
			return false
		}
	}
	return true
}

func TestAlike(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"owl 92.4% in 3s", "owl 92.6% in 17s"}:        true,
		{"owl 92.4%", "cat 92.4%"}:                     false,
		{"| owl | 0.31 |\n", "| owl |  0.29 |\n"}:      true,
		{"| -- |\n", "| ---- |"}:                       true,
		{"accuracy 92", "accuracy 70"}:                 false,
		{"nothing found (p = 0.9)", "found (p = 0.9)"}: false,
		{"first\n…\nthen", "…\nfirst\nthen"}:           true,
	} {
		if got := alike(pair[0], pair[1]); got != want {
			t.Errorf("%q: %v", pair, got)
		}
	}
}

// referenceHead begins the page of commands, as make docs writes it.
const referenceHead = "# Commands\n\n<!-- Written by make docs. -->\n\n"

// TestReference: the page of commands is what their help says.
func TestReference(t *testing.T) {
	const path = "../../docs/reference/cli.md"
	_, text, _ := call(t, "manual", "--markdown")
	if *updatePages {
		testfiles.Write(t, path, referenceHead+text)
	}
	if readFile(t, path) != referenceHead+text {
		t.Errorf("%s is not what the commands say of themselves; make docs writes it", path)
	}
}

// TestCheckDataExample: the page about data shows what check-data prints.
func TestCheckDataExample(t *testing.T) {
	page := readFile(t, "../../docs/howto/data.md")
	t.Chdir(t.TempDir())
	source, target := "id,species,leaf,petal,colour,plate\n", "id,leaf,petal,colour,plate\n"
	for i := range 60 {
		species, colour, petal := "rose", "red", fmt.Sprint(i%5)
		if i%3 == 0 {
			species, colour = "lily", "white"
		}
		if i%7 == 0 {
			petal = ""
		}
		source += fmt.Sprintf("a%d,%s,%.1f,%s,%s,%d\n", i, species, 3+float64(i%4)/2, petal, colour, i+1)
		target += fmt.Sprintf("b%d,%.1f,%s,%s,%d\n", i, 4+float64(i%3)/2, petal, colour, i+61)
	}
	testfiles.Write(t, "plants.csv", source)
	testfiles.Write(t, "more.csv", target)
	status, out, said := call(t, "check-data", "plants.csv", "more.csv", "--label-column", "species")
	if status != 0 {
		t.Fatalf("status %d, %s", status, said)
	}
	_, columns, _ := strings.Cut(out, "\n\n")
	columns, _, _ = strings.Cut(columns, "\n\n")
	if !strings.Contains(page, "\n```\n"+columns+"\n```\n") {
		t.Errorf("docs/howto/data.md does not show\n%s", columns)
	}
}
