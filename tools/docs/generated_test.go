package docs

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"iwda/experiments/config"
	"iwda/inference/selection"
	"iwda/weightest"
)

// pages returns the pages that follow from the code, by their paths.
func pages(root string) (map[string][]byte, error) {
	configuration, err := configurationPage(root)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"docs/reference/configuration.md": configuration,
		"docs/reference/estimators.md":    estimatorsPage(),
		"docs/reference/criteria.md":      criteriaPage(),
	}, nil
}

const byMake = "<!-- Written by make docs. -->\n"

const configurationHead = "# Configuration\n\n" + byMake + `
This page lists every key of an experiment file. ` + "`iwrun -c FILE --set train.epochs=2`" + ` sets one on the command line. If a key has several values, the first in this list counts:

1. ` + "`--set KEY=VALUE`" + `, of several the last;
2. ` + "`overrides`" + ` whose condition fits the run, of several the last;
3. the file;
4. the recipe that it names;
5. the default.

If there are two defaults, the one after the slash is for image files. Some data sets have their own defaults. Each run's ` + "`config.yaml`" + ` has every value that was used.
For a mistake, the error names file, line, column and the nearest valid key. [An example](../../configs/own-data.yaml) is an experiment on files of your own.
`

func configurationPage(root string) ([]byte, error) {
	comments, err := keyComments(root)
	if err != nil {
		return nil, err
	}
	page := bytes.NewBufferString(configurationHead)
	section := "-"
	for _, key := range config.Keys() {
		parent, _, below := strings.Cut(key.Path, ".")
		if !below {
			parent = ""
		}
		if parent != section {
			section = parent
			title := "`" + parent + "`"
			switch {
			case key.Path == "overrides":
				title = "Exceptions"
			case !below:
				title = "The experiment"
			}
			fmt.Fprintf(page, "\n## %s\n\n| key | takes | default | meaning |\n| --- | --- | --- | --- |\n", title)
		}
		comment := comments[key.Path]
		if comment == "" {
			return nil, fmt.Errorf("the schema has no comment for %s", key.Path)
		}
		takes := key.Type
		if key.Takes != "" {
			takes += ": " + key.Takes
		}
		standard := code(key.Default)
		if key.Images != key.Default {
			standard = cmp.Or(standard, "–") + " / " + cmp.Or(code(key.Images), "–")
		}
		fmt.Fprintf(page, "| %s | %s | %s | %s |\n", code(key.Path), cell(takes), standard, prose(comment))
	}
	return page.Bytes(), nil
}

func estimatorsPage() []byte {
	page := bytes.NewBufferString("# Estimators of class weights\n\n" + byMake + `
These are the values of ` + "`labelshift --estimator`" + `. A training run estimates its weights with ` + "`qp`" + `.
[methods.md](methods.md#label-shift-without-training) has their formulas, and [label-shift.md](../explanation/label-shift.md) says when to trust them.

| name | what it is | reads |
| --- | --- | --- |
`)
	for _, e := range weightest.Estimators() {
		reads := "rows or sums"
		if e.Rows {
			reads = "rows"
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", code(e.Name), cell(e.About), reads)
	}
	return page.Bytes()
}

func criteriaPage() []byte {
	page := bytes.NewBufferString("# Criteria that need no target labels\n\n" + byMake + `
These are the values of ` + "`selection.rule`" + `, and the columns of ` + "`iwrun table --kind selection`" + `. n is the number of rows, k the number of classes.
Logits are calibrated on held-out source rows before a criterion reads them. [choosing.md](../explanation/choosing.md) says which criterion to take.

| name | what it is | better | needs | operations | wrong |
| --- | --- | --- | --- | --- | --- |
`)
	for _, c := range selection.All() {
		better := "lower"
		if c.Higher {
			better = "higher"
		}
		fmt.Fprintf(page, "| %s | %s | %s | %s | %s | %s |\n", code(c.Name), cell(c.About), better, strings.Join(c.Needs(), "; "), c.Cost, cell(c.Fails))
	}
	return page.Bytes()
}

// code sets a text as code, unless it is empty.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell makes a text one of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

var (
	pageNames = regexp.MustCompile(`\b([a-z-]+\.md)(#[a-z-]+)?`)
	goNames   = regexp.MustCompile(`\[([A-Za-z.]+)\]`)
)

// prose makes a comment of the code a cell: names of pages are links.
func prose(comment string) string {
	comment = goNames.ReplaceAllString(comment, "`$1`")
	return pageNames.ReplaceAllString(cell(comment), "[$1]($1$2)")
}
