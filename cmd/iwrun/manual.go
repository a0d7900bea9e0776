package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/predict"
	"iwda/experiments/config"
	"iwda/internal/commandline"
)

func newCompletionCommand(s streams) *cli.Command {
	shells := commandline.Shells()
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the script by which a shell completes command lines",
		UsageText: "iwrun completion " + strings.Join(shells, "|"),
		Description: `The script's first lines say where shells look for it.

Examples:
  iwrun completion bash >~/.local/share/bash-completion/completions/iwrun
  iwrun completion fish >~/.config/fish/completions/iwrun.fish`,
		HideHelpCommand: true, // help is a word that may follow
		Action: func(c *cli.Context) error {
			if words, asked := afterDashes(s.arguments); asked {
				for _, word := range commandline.Completed(newApp(s), words, completed(shells)) {
					fmt.Fprintln(s.out, word)
				}
				return nil
			}
			if c.NArg() != 1 || !slices.Contains(shells, c.Args().First()) {
				return commandline.WrongUsage("of which shell? one of %s", strings.Join(shells, ", "))
			}
			fmt.Fprint(s.out, commandline.CompletionScript(c.App.Name, c.Args().First()))
			return nil
		},
	}
}

// afterDashes are the words of a command line that the script of a shell asks about.
func afterDashes(arguments []string) (words []string, asked bool) {
	at := slices.Index(arguments, "--")
	if at < 0 || at == len(arguments)-1 {
		return nil, false
	}
	return arguments[at+1:], true
}

// completed are the words that flags and arguments of these names may be, beside those that
// flags list themselves.
func completed(shells []string) map[string][]string {
	var set []string
	for _, name := range config.MethodNames() {
		set = append(set, "methods=["+name+"]")
	}
	for _, key := range config.Keys() {
		if !strings.Contains(key.Path, config.AnyName) {
			set = append(set, key.Path+"=")
		}
	}
	return map[string][]string{
		"completion": shells, "device": {"auto", "cpu", "cuda"}, "set": set, "data check": checkable(),
		"shares": {predict.ModelShares, predict.SourceShares, predict.UniformShares, predict.EstimateShares},
	}
}

func newManualCommand(s streams) *cli.Command {
	var man string
	var markdown bool
	return &cli.Command{
		Name:      "manual",
		Usage:     "write the help of all commands as man pages or as Markdown",
		UsageText: "iwrun manual --man FOLDER\niwrun manual --markdown",
		Description: `Examples:
  iwrun manual --man man/man1
  iwrun manual --markdown`,
		Hidden: true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "man", Destination: &man, Usage: "write a page a command into the `FOLDER`, and print their paths"},
			&cli.BoolFlag{Name: "markdown", Destination: &markdown, Usage: "print all as Markdown"},
		},
		Action: withoutArguments(func(*cli.Context) error {
			switch {
			case (man == "") == !markdown:
				return commandline.WrongUsage("in which form? --man FOLDER or --markdown")
			case markdown:
				return commandline.Markdown(newApp(s), s.out)
			}
			paths, err := commandline.WriteManual(newApp(s), man)
			for _, path := range paths {
				fmt.Fprintln(s.out, path)
			}
			return err
		}),
	}
}
