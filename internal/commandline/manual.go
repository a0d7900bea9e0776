package commandline

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// Markdown writes the reference of a program's commands: what their help says.
func Markdown(app *cli.App, to io.Writer) error {
	var b strings.Builder
	for _, p := range pages(app) {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n```\n%s\n```\n", p.name, markdown(printable.Sentence(p.usage)), strings.Join(p.synopsis, "\n"))
		for _, part := range p.about {
			if part.lines == nil {
				b.WriteString("\n" + markdown(part.text) + "\n")
			} else {
				b.WriteString("\n```\n" + strings.Join(part.lines, "\n") + "\n```\n")
			}
		}
		for _, g := range p.shown() {
			b.WriteString("\n### " + g.heading + "\n\n")
			for _, e := range g.entries {
				fmt.Fprintf(&b, "- `%s`: %s\n", e.left(), markdown(e.right()))
			}
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(to, strings.TrimSuffix(b.String(), "\n"))
	return err
}

// markdown has a text mean itself.
var markdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "|", `\|`, "`", "\\`").Replace

// WriteManual writes man pages into a folder, one a command, and returns their paths.
func WriteManual(app *cli.App, folder string) (paths []string, err error) {
	if err := new(wholefile.Disk).MakeFolder(folder); err != nil {
		return nil, err
	}
	all := pages(app)
	for _, p := range all {
		var others []string
		for _, other := range all {
			if other.name != p.name {
				others = append(others, roff(strings.ReplaceAll(other.name, " ", "-"))+"(1)")
			}
		}
		path := filepath.Join(folder, strings.ReplaceAll(p.name, " ", "-")+".1")
		if err := wholefile.WriteText(path, p.man(app.Name+" "+app.Version)+".SH SEE ALSO\n"+strings.Join(others, ",\n")+"\n"); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// man is the page in the language of man.
func (p page) man(version string) string {
	var b strings.Builder
	name := strings.ReplaceAll(p.name, " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n%s\n.fi\n.SH DESCRIPTION\n",
		roff(strings.ToUpper(name)), roff(version), roff(name), roff(p.usage), roff(strings.Join(p.synopsis, "\n")))
	for _, part := range p.about {
		if heading, is := strings.CutSuffix(part.text, ":"); is && len(strings.Fields(heading)) <= 2 {
			b.WriteString(".SH " + roff(strings.ToUpper(heading)) + "\n")
		} else if part.lines == nil {
			b.WriteString(".PP\n" + roff(part.text) + "\n")
		} else {
			b.WriteString(".RS 4\n.nf\n" + roff(strings.Join(part.lines, "\n")) + "\n.fi\n.RE\n")
		}
	}
	for _, g := range p.shown() {
		b.WriteString(".SH " + roff(strings.ToUpper(g.heading)) + "\n")
		for _, e := range g.entries {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(e.left()), roff(e.right()))
		}
	}
	return b.String()
}

// roff has a text mean itself; no line of it begins a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(text)
	return strings.NewReplacer("\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)[1:]
}
