package commandline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"iwda/internal/input"
)

func TestFlagsFirst(t *testing.T) {
	known := []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}}, &cli.BoolFlag{Name: "all"}}
	for line, want := range map[string]string{
		"a b":                  "a b",
		"a --all b -o c":       "--all -o c a b",
		"a --output=c b":       "--output=c a b",
		"a -o c -- --all b":    "-o c -- a --all b",
		"a - -o":               "-o a -",
		"a --unknown b --all ": "--unknown --all a b",
	} {
		if got := FlagsFirst(known, strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestCommandFlagsFirst(t *testing.T) {
	app := &cli.App{Commands: []*cli.Command{
		{Name: "table", Flags: []cli.Flag{&cli.StringFlag{Name: "kind"}}}, {Name: "data", Subcommands: []*cli.Command{{Name: "list", Flags: []cli.Flag{&cli.StringFlag{Name: "root"}}}}},
	}}
	for line, want := range map[string]string{
		"":                      "",
		"table x --kind y":      "table --kind y x",
		"tables x --kind y":     "tables x --kind y",
		"--kind y table x":      "--kind y table x",
		"data list x --root y":  "data list --root y x",
		"data lists x --root y": "data lists x --root y",
		"data":                  "data",
	} {
		if got := CommandFlagsFirst(app, strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestConclude(t *testing.T) {
	app := &cli.App{Name: "tool", UsageText: "tool FILE\ntool -x"}
	for name, test := range map[string]struct {
		err    error
		status int
		said   string
	}{
		"nothing": {nil, 0, ""},
		"failure": {errors.New("no disk"), StatusFailed, "tool: no disk\n"},
		"usage":   {WrongUsage("which file?"), StatusWrong, "tool: which file?\n\nUsage:\n  tool FILE\n  tool -x\nHelp: tool --help\n"},
		"input":   {input.Wrong(errors.New("a.csv:7: no label")), StatusWrong, "tool: a.csv:7: no label\n"},
	} {
		var said strings.Builder
		if status := Conclude(app, nil, test.err, &said); status != test.status || said.String() != test.said {
			t.Errorf("%s: status %d, said %q", name, status, said.String())
		}
	}
}

// The flags of a program without commands are told apart like those of a command.
// Messages have paths as they were given.
func TestAsGiven(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	_, missing := os.Stat(filepath.Join(folder, "a.csv"))
	if text := said(AsGiven("a.csv").Error(missing)); !strings.HasPrefix(text, "a.csv: no such file or folder; check the path") {
		t.Errorf("a missing file: %q", text)
	}
	given := AsGiven("a.csv", "", filepath.Join(folder, "b.csv"), "../c.csv")
	full := "in " + folder + "/a.csv:3, " + folder + "/b.csv and " + filepath.Dir(folder) + "/c.csv"
	want := "in a.csv:3, " + folder + "/b.csv and ../c.csv"
	err := given.Error(input.Wrong(errors.New(full)))
	var written strings.Builder
	if _, failed := given.Writer(&written).Write([]byte(full)); failed != nil || written.String() != want || err.Error() != want || !errors.Is(err, input.ErrWrong) || given.Error(nil) != nil {
		t.Errorf("%q and %v, want %q", written.String(), err, want)
	}
}

func TestWrongFlag(t *testing.T) {
	flags := []cli.Flag{&cli.StringFlag{Name: "estimator"}, &cli.IntFlag{Name: "seed", Aliases: []string{"s"}}}
	for line, want := range map[string]string{
		"--estimater x":    "there is no flag --estimater; did you mean --estimator?",
		"--zzzzzzzzzz":     "there is no flag --zzzzzzzzzz",
		"--seed eleven":    `tool: --seed is "eleven"; want a whole number`,
		"-s 1 --estimator": "tool: --estimator needs a value",
	} {
		for _, commands := range []bool{false, true} {
			app := &cli.App{Name: "tool", Writer: &strings.Builder{}, ErrWriter: &strings.Builder{}, OnUsageError: WrongFlag, ExitErrHandler: func(*cli.Context, error) {}}
			arguments := append([]string{"tool"}, strings.Fields(line)...)
			if commands {
				app.Commands = []*cli.Command{{Name: "sub", UsageText: "tool sub", Flags: flags, OnUsageError: WrongFlag}}
				arguments = slices.Insert(arguments, 1, "sub")
			} else {
				app.Flags, app.UsageText = flags, "tool FILE"
			}
			var said strings.Builder
			path, _ := Asked(app, arguments[1:])
			if status := Conclude(app, path, app.Run(arguments), &said); status != StatusWrong || !strings.Contains(said.String(), want) {
				t.Errorf("%s: status %d, said %q", line, status, said.String())
			}
		}
	}
}
