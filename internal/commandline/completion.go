package commandline

import (
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// scripts ask the program what a word may be, and shells complete files where it says nothing.
var scripts = map[string]string{
	"bash": `# Completion of PROGRAM for bash: PROGRAM completion bash >~/.local/share/bash-completion/completions/PROGRAM
_PROGRAM() {
	mapfile -t COMPREPLY < <(PROGRAM completion -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace # a value follows
}
complete -o default -F _PROGRAM PROGRAM
`,
	"zsh": `#compdef PROGRAM
# Completion of PROGRAM for zsh: PROGRAM completion zsh >FOLDER/_PROGRAM, of a folder in $fpath
_PROGRAM() {
	local -a found=(${(f)"$(PROGRAM completion -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
	if (( $#found )); then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = _PROGRAM ]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
`,
	"fish": `# Completion of PROGRAM for fish: PROGRAM completion fish >~/.config/fish/completions/PROGRAM.fish
complete -c PROGRAM -a '(PROGRAM completion -- (commandline -opc)[2..] (commandline -ct | string collect --allow-empty) 2>/dev/null)'
`,
}

// Shells are those that [CompletionScript] knows.
func Shells() []string { return slices.Sorted(maps.Keys(scripts)) }

// CompletionScript returns the script by which a shell completes a program's command lines.
func CompletionScript(program, shell string) string {
	return strings.ReplaceAll(scripts[shell], "PROGRAM", program)
}

// Completed returns what the last of a command line's words may be: commands, flags, or the words that a flag or
// an argument takes, which more has by the long names of flags and by commands without the program. It is nil for a file.
func Completed(app *cli.App, words []string, more map[string][]string) (may []string) {
	before, last := words[:len(words)-1], words[len(words)-1]
	if last == "=" { // bash has it as a word
		last = ""
	}
	before = slices.DeleteFunc(slices.Clone(before), func(word string) bool { return word == "=" })
	of, path := root(app), ""
	for _, word := range before {
		if next := command(of, word); next != nil {
			of, path = next, strings.TrimSpace(path+" "+word)
		}
	}
	var flags []string
	for _, flag := range of.Flags {
		e := describe(flag)
		flags = append(flags, e.names...)
		if n := len(before); n > 0 && e.placeholder != "" && slices.Contains(e.names, before[n-1]) {
			may = append(e.words, more[strings.TrimLeft(e.names[len(e.names)-1], "-")]...)
			return beginning(may, last)
		}
	}
	if strings.HasPrefix(last, "-") {
		return beginning(append(flags, "--help"), last)
	}
	for _, sub := range of.Subcommands {
		if !sub.Hidden {
			may = append(may, sub.Name)
		}
	}
	return beginning(append(may, more[path]...), last)
}

// beginning are those of some words that begin so.
func beginning(words []string, so string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.HasPrefix(word, so) })
}
