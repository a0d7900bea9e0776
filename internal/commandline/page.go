package commandline

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/internal/convert"
	"iwda/internal/printable"
)

// The headings of flags: a flag without a category is one of the usual ones.
const (
	usualFlags    = "Flags"
	advancedFlags = "Advanced"
)

// Advanced puts flags under the heading of those that few need.
func Advanced(flags ...cli.Flag) []cli.Flag {
	for _, flag := range flags {
		reflect.ValueOf(flag).Elem().FieldByName("Category").SetString(advancedFlags)
	}
	return flags
}

// Choice is a flag whose value is one of some words, which completion offers. Another word is an error.
type Choice struct {
	*cli.StringFlag
	Words []string
}

// RunAction checks the word, before the flag's own action.
func (c *Choice) RunAction(ctx *cli.Context) error {
	if said := ctx.String(c.Name); said != "" && !slices.Contains(c.Words, said) {
		return WrongUsage("--%s %s: %s", c.Name, said, printable.Or(c.Words))
	}
	return c.StringFlag.RunAction(ctx)
}

// page is what there is to say of a command: on a terminal, in a manual, as Markdown.
type page struct {
	name     string // with the program's
	usage    string // in a line
	synopsis []string
	about    []block
	commands []group
	flags    []group
}

// shown are the commands of a program that has some, else its flags.
func (p page) shown() []group {
	if len(p.commands) > 0 {
		return p.commands
	}
	return p.flags
}

// block is a paragraph, or lines that stay as they are.
type block struct {
	text  string   // empty for lines
	lines []string // without their indentation
}

// group is entries under a heading: commands, or flags.
type group struct {
	heading string
	entries []entry
}

// entry is a command or a flag.
type entry struct {
	names       []string // of a flag with dashes, the short one first
	placeholder string   // of a flag's value; empty for a switch
	text        string
	preset      string   // value of a flag that is not given, or what takes its place
	words       []string // that a value can be
}

// left is the entry as it is typed.
func (e entry) left() string {
	return strings.TrimSpace(strings.Join(e.names, ", ") + " " + e.placeholder)
}

// right is what there is to say of it.
func (e entry) right() string {
	if e.preset == "" {
		return e.text
	}
	return fmt.Sprintf("%s (default: %s)", e.text, e.preset)
}

// root is a program as the command that it is without one.
func root(app *cli.App) *cli.Command {
	return &cli.Command{Name: app.Name, Usage: app.Usage, UsageText: app.UsageText, Description: app.Description, Flags: app.Flags, Subcommands: app.Commands}
}

// newPage describes a command of that full name.
func newPage(name string, of *cli.Command) page {
	p := page{name: name, usage: of.Usage, synopsis: strings.Split(of.UsageText, "\n"), about: blocks(of.Description)}
	for _, command := range of.Subcommands {
		if !command.Hidden {
			p.commands = enter(p.commands, cmp.Or(command.Category, "Commands"), entry{names: []string{command.Name}, text: command.Usage})
		}
	}
	for _, category := range []string{"", advancedFlags} {
		for _, flag := range of.Flags {
			if flag.(cli.CategorizableFlag).GetCategory() == category {
				p.flags = enter(p.flags, cmp.Or(category, usualFlags), describe(flag))
			}
		}
	}
	return p
}

// enter adds an entry under its heading.
func enter(groups []group, heading string, e entry) []group {
	at := slices.IndexFunc(groups, func(g group) bool { return g.heading == heading })
	if at < 0 {
		return append(groups, group{heading, []entry{e}})
	}
	groups[at].entries = append(groups[at].entries, e)
	return groups
}

// describe returns what help says of a flag. Its usage has the value's placeholder between
// backquotes.
func describe(flag cli.Flag) entry {
	of := flag.(cli.DocGenerationFlag)
	e := entry{text: of.GetUsage(), names: convert.Each(flag.Names(), dashed)}
	slices.SortStableFunc(e.names, func(a, b string) int { return min(len(a), 3) - min(len(b), 3) })
	if !of.TakesValue() {
		return e
	}
	e.placeholder = "VALUE"
	if before, rest, is := strings.Cut(e.text, "`"); is {
		inside, after, _ := strings.Cut(rest, "`")
		e.placeholder, e.text = inside, before+inside+after
	}
	e.preset = strings.Trim(of.GetDefaultText(), `"`)
	if slices.Contains([]string{"0", "0s", "false"}, e.preset) {
		e.preset = ""
	}
	if choice, is := flag.(*Choice); is {
		e.words = choice.Words
	}
	return e
}

// blocks parses a description: paragraphs with empty lines between, and lines that are indented
// by two spaces, as examples, which stay as they are.
func blocks(description string) (all []block) {
	var words []string
	paragraph := func() {
		if len(words) > 0 {
			all = append(all, block{text: strings.Join(words, " ")})
		}
		words = nil
	}
	for line := range strings.SplitSeq(strings.TrimSpace(description), "\n") {
		whole, verbatim := strings.CutPrefix(line, "  ")
		switch last := len(all) - 1; {
		case !verbatim && line == "":
			paragraph()
		case !verbatim:
			words = append(words, line)
		case len(words) == 0 && last >= 0 && all[last].lines != nil:
			all[last].lines = append(all[last].lines, whole)
		default:
			paragraph()
			all = append(all, block{lines: []string{whole}})
		}
	}
	paragraph()
	return all
}

// pages are those of the program and of all its commands that are not hidden.
func pages(app *cli.App) (all []page) {
	var walk func(name string, of *cli.Command)
	walk = func(name string, of *cli.Command) {
		all = append(all, newPage(name, of))
		for _, command := range of.Subcommands {
			if !command.Hidden {
				walk(name+" "+command.Name, command)
			}
		}
	}
	walk(app.Name, root(app))
	return all
}
