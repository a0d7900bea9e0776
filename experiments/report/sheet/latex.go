package sheet

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"iwda/internal/printable"
)

// floatsHeld is how many floats every LaTeX can hold back until there is room for them.
const floatsHeld = 18

// writeLaTeX writes a float for each section of the sheet, to be included in a
// document that loads booktabs and graphicx. Wide tables shrink to the line.
func (s Sheet) writeLaTeX(w io.Writer) error {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs,graphicx}\n")
	for _, note := range s.Notes {
		b.WriteString("% " + strings.ReplaceAll(printable.Wrap(printable.Text(note), lineWidth, ""), "\n", "\n%   ") + "\n")
	}
	for i, section := range s.Sections {
		if i > 0 && i%floatsHeld == 0 {
			b.WriteString("\n\\clearpage\n")
		}
		caption := Escape(cmp.Or(s.Caption, s.Title) + ": " + section.Title + ".")
		columns := strings.Repeat("l", section.keys()) + strings.Repeat("r", len(section.Heads)-section.keys())
		fmt.Fprintf(&b, "\n\\begin{table}[htb]\n\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}\n\\caption{%s}\n"+
			"\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%%\n\\begin{tabular}{%s}\n\\toprule\n", caption, columns)
		for j, line := range section.lines(Cell.inLaTeX) {
			if j == 1 {
				b.WriteString("\\midrule\n")
			}
			b.WriteString(strings.Join(line, " & ") + " \\\\\n")
		}
		b.WriteString("\\bottomrule\n\\end{tabular}}\n\\end{table}\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Cell) inLaTeX() string { return c.format.inLaTeX(c.Value) }

// Escape spells out what LaTeX takes for commands, or behind \\ for an argument, or prints as
// another sign, and the signs of our tables and Greek letters, which it lacks in text. It makes one
// line of several. Other letters than Latin ones stay, and need XeLaTeX or LuaLaTeX.
func Escape(text string) string {
	return latexEscapes.Replace(printable.Text(onOneLine.Replace(text)))
}

// onOneLine makes one line of several.
var onOneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

var latexEscapes = strings.NewReplacer(slices.Concat([]string{
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `[`, `{[}`, `*`, `{*}`,
	`<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`, `"`, `{\char34}`, `--`, `-{}-{}`,
	`±`, `$\pm$`, `–`, `--`, `—`, `---`, `…`, `\dots{}`, `−`, `$-$`, `×`, `$\times$`, `·`, `$\cdot$`, `→`, `$\rightarrow$`,
	`≤`, `$\le$`, `≥`, `$\ge$`, `√`, `$\surd$`, `½`, `$\frac12$`, `²`, `$^2$`, `³`, `$^3$`, `Ŷ`, `$\hat{Y}$`, `‖`, `$\|$`,
}, subscripts(), greekLetters())...)

// subscripts are the digits below the line, each before what it is in LaTeX.
func subscripts() (pairs []string) {
	for digit := range 10 {
		pairs = append(pairs, string('₀'+rune(digit)), fmt.Sprintf("$_%d$", digit))
	}
	return pairs
}

// greekLetters are the small Greek letters and the large ones that look like no Latin one, each
// before what it is in LaTeX.
func greekLetters() (pairs []string) {
	letters := []rune("αβγδεζηθικλμνξοπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ")
	for i, name := range strings.Fields(`\alpha \beta \gamma \delta \varepsilon \zeta \eta \theta \iota \kappa \lambda \mu
		\nu \xi o \pi \rho \varsigma \sigma \tau \upsilon \varphi \chi \psi \omega
		\Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega`) {
		pairs = append(pairs, string(letters[i]), "$"+name+"$")
	}
	return pairs
}
