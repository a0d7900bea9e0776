package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"iwda/internal/commandline"
)

// eachCommand calls f with the words of every command, hidden ones too.
func eachCommand(f func(words []string, command *cli.Command)) {
	for _, command := range newApp(streams{}).Commands {
		if command.Name == fitName { // nobody gives it
			continue
		}
		f([]string{command.Name}, command)
		for _, sub := range command.Subcommands {
			f([]string{command.Name, sub.Name}, sub)
		}
	}
}

// Help says what a command is for and shows examples, in lines that a terminal has, and each flag
// once.
func TestHelp(t *testing.T) {
	check := func(text string) {
		t.Helper()
		for line := range strings.SplitSeq(text, "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("a line of %d characters: %s", utf8.RuneCountInString(line), line)
			}
		}
	}
	eachCommand(func(words []string, command *cli.Command) {
		name := strings.Join(words, " ")
		status, text, said := call(t, append(slices.Clone(words), "--help")...)
		if status != 0 || said != "" {
			t.Fatalf("%s --help: status %d, %s", name, status, said)
		}
		if status, again, _ := call(t, append([]string{"help"}, words...)...); status != 0 || again != text {
			t.Errorf("help %s: status %d\n%s", name, status, again)
		}
		check(text)
		if !strings.Contains(text, "\nUsage:\n  iwrun "+name) || len(examples(name, text)) == 0 {
			t.Errorf("%s has no usage, or no example:\n%s", name, text)
		}
		for _, flag := range command.Flags {
			long := slices.MaxFunc(flag.Names(), func(a, b string) int { return len(a) - len(b) })
			lines := regexp.MustCompile(`(?m)^  (?:-\w, |    )--`+long+`(?: |$)`).FindAllString(text, -1)
			if len(lines) != 1 && len(command.Subcommands) == 0 {
				t.Errorf("%s: --%s has %d lines in\n%s", name, long, len(lines), text)
			}
		}
		if advanced := strings.Index(text, "\nAdvanced:\n"); advanced >= 0 && strings.Index(text, "\nFlags:\n") > advanced {
			t.Errorf("%s: the advanced flags come first", name)
		}
	})
	status, text, said := call(t)
	if status != 0 || said != "" || !strings.Contains(text, "  2    wrong usage") {
		t.Errorf("status %d, %s\n%s", status, said, text)
	}
	check(text)
	for _, line := range [][]string{{"--help"}, {"-h"}, {"help"}} {
		if status, again, _ := call(t, line...); status != 0 || again != text {
			t.Errorf("%q: status %d\n%s", line, status, again)
		}
	}
	at := 0
	for _, heading := range []string{"Your own data:", "Experiments:", "Clusters:", "Machine:"} {
		next := strings.Index(text, "\n"+heading+"\n")
		if next <= at {
			t.Errorf("%s stands at %d", heading, next)
		}
		at = next
	}
}

// examples are the lines of a command's help that begin as its examples do.
func examples(name, help string) (lines []string) {
	_, after, _ := strings.Cut(help, "\nExamples:\n")
	for line := range strings.SplitSeq(after, "\n") {
		line, indented := strings.CutPrefix(line, "  ")
		if !indented {
			break
		}
		if strings.HasPrefix(line, "iwrun "+name) {
			lines = append(lines, line)
		}
	}
	return lines
}

// What examples show is read without complaint: all flags are there, with values that they take.
func TestExamples(t *testing.T) {
	read := 0
	try := func(line string) {
		line, _, _ = strings.Cut(line, " | ")
		line, _, _ = strings.Cut(line, " >")
		var words []string
		for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
			words = append(words, strings.Trim(word, "'"))
			if strings.HasPrefix(word, "configs/") {
				if _, err := os.Stat("../../" + word); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
		app := newApp(streams{out: io.Discard, err: io.Discard})
		done := false
		for _, command := range app.Commands {
			for _, c := range append(command.Subcommands, command) {
				if c.Subcommands == nil {
					c.Action = func(*cli.Context) error {
						done = true
						return nil
					}
				}
			}
		}
		if err := app.Run(append([]string{"iwrun"}, commandline.CommandFlagsFirst(app, words[1:])...)); err != nil || !done {
			t.Errorf("%s: %v, carried out: %v", line, err, done)
		}
		read++
	}
	eachCommand(func(words []string, _ *cli.Command) {
		name := strings.Join(words, " ")
		_, text, _ := call(t, append([]string{"help"}, words...)...)
		for _, line := range examples(name, text) {
			try(line)
		}
	})
	_, text, _ := call(t)
	for _, line := range examples("", text) {
		try(line)
	}
	if read < 30 {
		t.Errorf("%d examples", read)
	}
}

// After a mistake the hint names the help of the command that was meant.
func TestHints(t *testing.T) {
	for line, help := range map[string]string{
		"adapt --stesp 3 a b": "iwrun adapt", "adapt a": "iwrun adapt", "table": "iwrun table", "-j 2": "iwrun run", "data check": "iwrun data check",
		"tabel": "iwrun", "help adpat": "iwrun", "labelshift --merg a": "iwrun labelshift", "--device": "iwrun run",
	} {
		status, out, said := call(t, strings.Fields(line)...)
		if status != 2 || out != "" || !strings.HasSuffix(said, "\nHelp: "+help+" --help\n") {
			t.Errorf("%s: status %d, %q\n%s", line, status, out, said)
		}
	}
}

// Every shell that is there reads its script.
func TestCompletion(t *testing.T) {
	for _, shell := range commandline.Shells() {
		status, script, said := call(t, "completion", shell)
		if status != 0 || said != "" || !strings.Contains(script, "iwrun completion -- ") {
			t.Fatalf("%s: status %d, %s\n%s", shell, status, said, script)
		}
		program, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		command := exec.Command(program, "-n", "/dev/stdin")
		command.Stdin = strings.NewReader(script)
		if text, err := command.CombinedOutput(); err != nil || len(text) > 0 {
			t.Errorf("%s: %v\n%s", shell, err, text)
		}
	}
}

// Commands, flags and words are completed, and nothing is said where files may be meant.
func TestCompleted(t *testing.T) {
	for _, test := range []struct {
		words []string // the last being completed
		want  string
	}{
		{[]string{"ada"}, "adapt"},
		{[]string{"help", "ada"}, "adapt"},
		{[]string{"data", ""}, "list check"},
		{[]string{"completion", "f"}, "fish"},
		{[]string{"data", "check", "office"}, "office31 officehome"},
		{[]string{"doctor", ""}, ""},
		{[]string{"predict", "--shares", "s"}, "source"},
		{[]string{"run", "--set", "train.ep"}, "train.epochs="},
		{[]string{"run", "--set", "seeds"}, "seeds="},
		{[]string{"adapt", "rows"}, ""},
		{[]string{"adapt", "--dry"}, "--dry-run"},
		{[]string{"table", "--format", ""}, "md csv json"},
		{[]string{"table", "--format", "=", "c"}, "csv"},
		{[]string{"run", "-c", ""}, ""},
		{[]string{"run", "--set", "methods=[iwdan-"}, "methods=[iwdan-o]"},
		{[]string{"run", "--only", "ro"}, ""},
	} {
		if status, out, said := call(t, append([]string{"completion", "--"}, test.words...)...); status != 0 || said != "" || strings.Join(strings.Fields(out), " ") != test.want {
			t.Errorf("%q: status %d, %q, want %q, %s", test.words, status, out, test.want, said)
		}
	}
	_, script, _ := call(t, "completion", "bash")
	command := exec.Command("bash", "--norc", "-c", "iwrun() { \"$PROGRAM\" \"$@\"; }\n"+script+"COMP_WORDS=(iwrun data '') COMP_CWORD=2\n_iwrun\necho ${COMPREPLY[@]}")
	command.Env = append(os.Environ(), asProgram+"=yes", "PROGRAM="+os.Args[0])
	if text, err := command.CombinedOutput(); err != nil || string(text) != "list check\n" {
		t.Errorf("bash: %q, %v", text, err)
	}
}

// The reference has a section a command, the manual a page.
func TestManual(t *testing.T) {
	_, markdown, _ := call(t, "manual", "--markdown")
	t.Chdir(t.TempDir())
	status, paths, said := call(t, "manual", "--man", "man/man1")
	if status != 0 || said != "" {
		t.Fatalf("status %d, %s", status, said)
	}
	eachCommand(func(words []string, command *cli.Command) {
		name := strings.Join(words, " ")
		page := "man/man1/iwrun-" + strings.Join(words, "-") + ".1"
		if section := strings.Contains(markdown, "\n## iwrun "+name+"\n"); section == command.Hidden {
			t.Errorf("%s: in the reference: %v", name, section)
		}
		if is := strings.Contains(paths, page+"\n"); is == command.Hidden {
			t.Errorf("%s: in the manual: %v", name, is)
		} else if is {
			if text := readFile(t, page); !strings.Contains(text, ".SH SYNOPSIS\n") || !strings.Contains(text, "\n.SH SEE ALSO\niwrun(1),\niwrun\\-") {
				t.Error(text)
			}
		}
	})
	for _, section := range []string{"EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"} {
		if page := readFile(t, "man/man1/iwrun.1"); !strings.Contains(page, "\n.SH "+section+"\n") {
			t.Errorf("no section %s in\n%s", section, page)
		}
	}
	if status, _, said := call(t, "manual"); status != 2 || !strings.Contains(said, "--markdown") {
		t.Errorf("status %d, %s", status, said)
	}
}

// Every flag that takes a number has a lower and an upper bound, which the error names with the flag.
func TestNumericFlagsAreBounded(t *testing.T) {
	inFolder(t)
	numeric := 0
	eachCommand(func(words []string, command *cli.Command) {
		for _, flag := range command.Flags {
			values := []string{"0", "-1", "2147483648", "4611686018427387904", "NaN", "1e300"}
			switch flag.(type) {
			case *cli.IntFlag, *cli.Int64Flag, *cli.UintFlag, *cli.Float64Flag:
			case *cli.DurationFlag:
				values = []string{"0s", "-1s", "2147483648s", "2147483648ns", "NaN", "2562047h"}
			default:
				continue
			}
			numeric++
			name := "--" + flag.Names()[0]
			for i, value := range values {
				status, out, text := call(t, append(slices.Clone(words), name+"="+value)...)
				named := strings.Contains(text, name) || strings.Contains(text, "-"+flag.Names()[len(flag.Names())-1])
				if refused := i >= 2 && value != "2147483648ns"; refused && (status != 2 || !named || out != "") {
					t.Errorf("%q %s=%s: status %d\n%s\n%s", words, name, value, status, out, text)
				} else if refused && i < 4 && !strings.Contains(text, "at most") {
					t.Errorf("%q %s=%s: the error names no bound\n%s", words, name, value, text)
				}
			}
		}
	})
	if numeric < 20 {
		t.Errorf("only %d flags take numbers", numeric)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// What prints fails if it cannot.
func TestStandardOutputThatCannotBeWritten(t *testing.T) {
	inFolder(t)
	lines := [][]string{{"--version"}, {"--help"}, {"help", "adapt"}, {"doctor"}, {"status", "-c", "tiny.yaml"}, {"run", "-c", "tiny.yaml", "--dry-run"},
		{"completion", "bash"}, {"manual", "--markdown"}}
	eachCommand(func(words []string, _ *cli.Command) { lines = append(lines, append(slices.Clone(words), "--help")) })
	for _, line := range lines {
		var text strings.Builder
		if status := run(line, streams{in: strings.NewReader(""), out: full{}, err: &text}); status != commandline.StatusFailed || !strings.Contains(text.String(), "no space left on device") {
			t.Errorf("%q: status %d\n%s", line, status, &text)
		}
	}
}
