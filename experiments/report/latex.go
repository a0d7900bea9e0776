package report

import (
	"fmt"
	"io"
	"strings"
)

// Tabular is a table in LaTeX. Its lines are complete but for the rules at the top
// and the bottom; cells hold LaTeX.
type Tabular struct {
	Caption string // LaTeX
	Columns string // the argument of tabular, as in lcc|c
	Lines   []string
}

// floatsHeld is how many floats every LaTeX can hold back until there is room for them.
const floatsHeld = 18

// WriteLaTeX writes a float for each tabular of the sheet, to be included in a
// document that loads booktabs and graphicx. Wide tables shrink to the line.
func (s Sheet) WriteLaTeX(w io.Writer) error {
	tabulars := s.Tabulars
	if len(tabulars) == 0 {
		for _, section := range s.Sections {
			tabulars = append(tabulars, section.tabular(s.Title))
		}
	}
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs,graphicx}\n")
	for _, note := range s.Notes {
		b.WriteString("% " + strings.ReplaceAll(strings.TrimSuffix(wrap(note), "\n"), "\n", "\n%   ") + "\n")
	}
	for i, t := range tabulars {
		if i > 0 && i%floatsHeld == 0 {
			b.WriteString("\n\\clearpage\n")
		}
		fmt.Fprintf(&b, "\n\\begin{table}[htb]\n\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}\n\\caption{%s}\n"+
			"\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%%\n\\begin{tabular}{%s}\n\\toprule\n", t.Caption, t.Columns)
		for _, line := range t.Lines {
			b.WriteString(line + "\n")
		}
		b.WriteString("\\bottomrule\n\\end{tabular}}\n\\end{table}\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tabular is the section as it is printed elsewhere.
func (s Section) tabular(title string) Tabular {
	t := Tabular{
		Caption: escapeLaTeX(title + ": " + s.Title + "."),
		Columns: strings.Repeat("l", s.Names) + strings.Repeat("r", len(s.Header)-s.Names),
	}
	for i, line := range s.texts() {
		for j := range line {
			line[j] = escapeLaTeX(line[j])
		}
		t.Lines = append(t.Lines, texRow(line))
		if i == 0 {
			t.Lines = append(t.Lines, `\midrule`)
		}
	}
	return t
}

func texRow(cells []string) string { return strings.Join(cells, " & ") + ` \\` }

// escapeLaTeX spells out what LaTeX takes for commands, and the signs of our tables.
func escapeLaTeX(text string) string { return latexEscapes.Replace(text) }

var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`,
	`±`, `$\pm$`, `–`, `--`, `→`, `$\rightarrow$`, `≤`, `$\le$`, `≥`, `$\ge$`, `√`, `$\surd$`, `½`, `$\frac12$`,
	`Δ`, `$\Delta$`, `ε`, `$\varepsilon$`, `Ŷ`, `$\hat{Y}$`, `‖`, `$\|$`, `₁`, `$_1$`,
)
