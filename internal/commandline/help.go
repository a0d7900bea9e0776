package commandline

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"iwda/internal/nearest"
	"iwda/internal/printable"
)

// helpName is the command that shows help.
const helpName = "help"

// Help prints the help of a program's command.
func Help(app *cli.App, path []string, to io.Writer) error {
	name, of := app.Name, root(app)
	for _, word := range path {
		next := command(of, word)
		if next == nil {
			var names []string
			for _, c := range of.Subcommands {
				if !c.Hidden {
					names = append(names, c.Name)
				}
			}
			return WrongUsage("%q is no command of %s; %s", word, name, nearest.Suggestion(word, names))
		}
		name, of = name+" "+word, next
	}
	newPage(name, of).print(to)
	return nil
}

// Asked returns the path of the command that a command line names, and whether it asks for that
// command's help: by help COMMAND, -h or --help, or by nothing at all to a program with commands.
func Asked(app *cli.App, arguments []string) (path []string, help bool) {
	of := root(app)
	switch {
	case len(arguments) == 0:
		return nil, len(app.Commands) > 0
	case arguments[0] == helpName && len(app.Commands) > 0:
		return slices.DeleteFunc(slices.Clone(arguments[1:]), isFlag), true
	}
	for i := 0; i < len(arguments) && arguments[i] != "--"; i++ {
		word := arguments[i]
		next := command(of, word)
		switch {
		case word == "-h" || word == "--help":
			help = true
		case takesValue(of.Flags, word):
			i++
		case next != nil:
			of, path = next, append(path, word)
		}
	}
	return path, help
}

// command returns the one of that name, nil if there is none.
func command(of *cli.Command, name string) *cli.Command {
	for _, c := range of.Subcommands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// mostLeft is the width of flags beyond which they have a line of their own.
const mostLeft = 26

// print writes the page as wide as a terminal is.
func (p page) print(to io.Writer) {
	width := printable.Width(to)
	var about, entries strings.Builder
	for _, part := range p.about {
		if part.lines == nil {
			about.WriteString("\n" + printable.Wrap(part.text, width, "") + "\n")
			continue
		}
		about.WriteString("  " + strings.Join(part.lines, "\n  ") + "\n")
	}
	left := 0
	for _, g := range p.shown() {
		for _, e := range g.entries {
			if n := utf8.RuneCountInString(e.column()); n <= mostLeft {
				left = max(left, n)
			}
		}
	}
	indent := strings.Repeat(" ", 2+left+2)
	for _, g := range p.shown() {
		entries.WriteString("\n" + g.heading + ":\n")
		for _, e := range g.entries {
			column := "  " + e.column()
			if pad := len(indent) - utf8.RuneCountInString(column); pad >= 2 {
				column += strings.Repeat(" ", pad)
			} else {
				column += "\n" + indent
			}
			entries.WriteString(column + strings.TrimLeft(printable.Wrap(indent+e.right(), width, indent), " ") + "\n")
		}
	}
	all := []string{about.String(), entries.String()}
	if len(p.commands) > 0 {
		slices.Reverse(all)
	}
	fmt.Fprintf(to, "%s\n\nUsage:\n  %s\n%s", printable.Wrap(printable.Sentence(p.usage), width, ""), strings.Join(p.synopsis, "\n  "), strings.Join(all, ""))
}

// column is the entry's left side; a flag without a short name stands below the long ones.
func (e entry) column() string {
	if strings.HasPrefix(e.names[0], "--") {
		return "    " + e.left()
	}
	return e.left()
}
