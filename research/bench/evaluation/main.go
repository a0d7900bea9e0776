// Command evaluation measures on drawn predictions how often the intervals of iwrun evaluate hold the
// true accuracy, and how often labels choose another method, and writes both as tables into a page,
// between two comments as <!-- accuracy --> … <!-- /accuracy -->.
//
//	go run ./research/bench/evaluation [-draws N] [-only accuracy|choice] [-o FILE.md]
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	draws := flag.Int("draws", 2000, "evaluations of each cell")
	only := flag.String("only", "", "the table of that name alone")
	page := flag.String("o", "research/evaluation.md", "page with the tables")
	flag.Parse()
	if err := run(*draws, *only, *page); err != nil {
		fmt.Fprintln(os.Stderr, "evaluation:", err)
		os.Exit(1)
	}
}

func run(draws int, only, page string) error {
	for _, table := range []struct {
		name    string
		measure func(int) ([]string, error)
	}{{"accuracy", measureAccuracy}, {"choice", measureChoice}} {
		if only != "" && only != table.name {
			continue
		}
		lines, err := table.measure(draws)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, strings.Join(lines, "\n"))
		if err := replace(page, table.name, lines); err != nil {
			return err
		}
	}
	return nil
}

// replace puts lines between the page's two comments of a name.
func replace(page, name string, lines []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), "<!-- "+name+" -->\n")
	_, after, ended := strings.Cut(rest, "<!-- /"+name+" -->")
	if !found || !ended {
		return fmt.Errorf("%s has no comments <!-- %s --> and <!-- /%s -->", page, name, name)
	}
	return os.WriteFile(page, []byte(before+"<!-- "+name+" -->\n"+strings.Join(lines, "\n")+"\n<!-- /"+name+" -->"+after), 0o666)
}
