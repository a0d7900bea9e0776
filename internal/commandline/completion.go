package commandline

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/internal/printable"
)

// Shells are those that [Completion] knows.
func Shells() []string { return slices.Sorted(maps.Keys(completions)) }

var completions = map[string]func(program string, commands []completed) string{"bash": bash, "zsh": zsh, "fish": fish}

// Completion writes the script by which a shell completes a program's commands, its flags and
// their values: files, folders and words. more has words of flags, by their long names, and of
// arguments, by their commands' names.
func Completion(app *cli.App, shell string, more map[string][]string, to io.Writer) error {
	var commands []completed
	for _, of := range app.Commands {
		if of.Hidden {
			continue
		}
		c := completed{name: of.Name, usage: of.Usage, words: more[of.Name]}
		flags := of.Flags
		for _, sub := range of.Subcommands {
			c.words, flags = append(c.words, sub.Name), append(flags, sub.Flags...)
		}
		for _, flag := range flags {
			e := describe(flag)
			if words := more[e.long()]; words != nil {
				e.words = words
			}
			c.flags = append(c.flags, e)
		}
		commands = append(commands, c)
	}
	help := completed{name: helpName, usage: "show the help of a command"}
	for _, c := range commands {
		help.words = append(help.words, c.name)
	}
	_, err := io.WriteString(to, completions[shell](app.Name, append(commands, help)))
	return err
}

// completed is a command, the words that its arguments can be, none for files, and its flags.
type completed struct {
	name, usage string
	words       []string
	flags       []entry
}

// long is the longest name of a flag, without dashes.
func (e entry) long() string { return strings.TrimLeft(e.names[len(e.names)-1], "-") }

// The kinds of values that shells complete in their own ways.
const (
	files   = "files"
	folders = "folders"
	configs = "configs" // files of YAML
	none    = "none"
)

// kind is that of a flag's value that is none of its words.
func (e entry) kind() string {
	switch {
	case e.long() == "config":
		return configs
	case strings.HasPrefix(e.placeholder, "FILE"):
		return files
	case strings.HasPrefix(e.placeholder, "FOLDER"):
		return folders
	}
	return none
}

func bash(program string, commands []completed) string {
	var names, words, flags, values strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&names, "%s ", c.name)
		fmt.Fprintf(&words, "\t\t[%s]=%s\n", c.name, printable.Quoted(strings.Join(c.words, " ")))
		fmt.Fprintf(&flags, "\t\t[%s]='--help", c.name)
		for _, e := range c.flags {
			for _, name := range e.names {
				flags.WriteString(" " + name)
				if e.placeholder != "" {
					fmt.Fprintf(&values, "\t\t[%s]=%s\n", printable.Quoted(c.name+" "+name), printable.Quoted(cmp.Or(strings.Join(e.words, " "), e.kind())))
				}
			}
		}
		flags.WriteString("'\n")
	}
	return strings.NewReplacer("@program@", program, "@names@", strings.TrimSpace(names.String()), "@words@", words.String(), "@flags@", flags.String(), "@values@", values.String()).Replace(bashScript)
}

// A word with = comes in three parts: what is before it, it, and what follows.
const bashScript = `# Completion of @program@ for bash: @program@ completion bash >~/.local/share/bash-completion/completions/@program@
_@program@() {
	local -A words=(
@words@	) flags=(
@flags@	) values=(
@values@	)
	local at=$COMP_CWORD command= key= found i
	local word=${COMP_WORDS[at]}
	for ((i = 1; i < at; i++)); do
		if [[ -n ${COMP_WORDS[i]} && -n ${flags[${COMP_WORDS[i]}]-} ]]; then
			command=${COMP_WORDS[i]}
			break
		fi
	done
	if [[ $word == = ]]; then
		word= key=${COMP_WORDS[--at]}
	elif [[ ${COMP_WORDS[at - 1]} == = ]]; then
		key=${COMP_WORDS[at -= 2]}
	fi
	local flag=${COMP_WORDS[at - 1]}
	if [[ $key == -* ]]; then flag=$key key=; fi
	case ${values["$command $flag"]-} in
	files) found=$(compgen -f -- "$word") ;;
	folders) found=$(compgen -d -- "$word") ;;
	configs) found=$(compgen -d -- "$word"; compgen -f -X '!*.y*ml' -- "$word") ;;
	none) found= ;;
	?*) found=$(compgen -W "${values["$command $flag"]}" -- "${key:+$key=}$word") && found=${found//"${key:+$key=}"/} ;;
	*)
		if [[ -z $command ]]; then
			found=$(compgen -W '@names@ --help --version' -- "$word")
		elif [[ $word == -* ]]; then
			found=$(compgen -W "${flags[$command]}" -- "$word")
		elif [[ -n ${words[$command]} ]]; then
			found=$(compgen -W "${words[$command]}" -- "$word")
		else
			found=$(compgen -f -- "$word")
		fi
		;;
	esac
	COMPREPLY=()
	if [[ -n $found ]]; then mapfile -t COMPREPLY <<<"$found"; fi
}
complete -o filenames -F _@program@ @program@
`

func zsh(program string, commands []completed) string {
	escape := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`).Replace
	ways := map[string]string{files: "_files", folders: "_files -/", configs: `_files -g "*.y*ml"`, none: " "}
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %[1]s\n# Completion of %[1]s for zsh: %[1]s completion zsh >FOLDER/_%[1]s, of a folder in $fpath\n_%[1]s() {\n\tlocal line state\n\tlocal -a commands=(\n", program)
	for _, c := range commands {
		b.WriteString("\t\t" + printable.Quoted(c.name+":"+c.usage) + "\n")
	}
	b.WriteString("\t)\n\t_arguments -C '--help[show help]' '--version[show the version]' '1: :->command' '*:: :->arguments'\n" +
		"\tcase $state in\n\tcommand) _describe command commands ;;\n\targuments)\n\t\tcase $line[1] in\n")
	for _, c := range commands {
		arguments := "*: :_files"
		if len(c.words) > 0 {
			arguments = "1: :(" + strings.Join(c.words, " ") + ")"
		}
		fmt.Fprintf(&b, "\t\t%s) _arguments '--help[show help]' %s", c.name, printable.Quoted(arguments))
		for _, e := range c.flags {
			value := ""
			if e.placeholder != "" {
				value = ":" + escape(e.placeholder) + ":" + ways[e.kind()]
			}
			if e.words != nil {
				value = ": :(" + strings.Join(e.words, " ") + ")"
			}
			for _, name := range e.names {
				repeated := ""
				if e.repeated {
					repeated = "*"
				}
				b.WriteString(" \\\n\t\t\t" + printable.Quoted(repeated+name+"["+escape(e.text)+"]"+value))
			}
		}
		b.WriteString(" ;;\n")
	}
	fmt.Fprintf(&b, "\t\tesac ;;\n\tesac\n}\nif [ \"$funcstack[1]\" = _%[1]s ]; then _%[1]s \"$@\"; else compdef _%[1]s %[1]s; fi\n", program)
	return b.String()
}

func fish(program string, commands []completed) string {
	ways := map[string]string{files: "-rF", folders: "-xa '(__fish_complete_directories)'", configs: "-xa '(__fish_complete_suffix .yaml)'", none: "-x"}
	var b strings.Builder
	fmt.Fprintf(&b, "# Completion of %[1]s for fish: %[1]s completion fish >~/.config/fish/completions/%[1]s.fish\ncomplete -c %[1]s -f\ncomplete -c %[1]s -l help -d 'show help'\n", program)
	for _, c := range commands {
		fmt.Fprintf(&b, "complete -c %s -n __fish_use_subcommand -a %s -d %s\n", program, c.name, printable.Quoted(c.usage))
		of := fmt.Sprintf("complete -c %s -n '__fish_seen_subcommand_from %s'", program, c.name)
		if len(c.words) > 0 {
			fmt.Fprintf(&b, "%s -a %s\n", of, printable.Quoted(strings.Join(c.words, " ")))
		} else {
			b.WriteString(of + " -F\n")
		}
		for _, e := range c.flags {
			b.WriteString(of)
			for _, name := range e.names {
				b.WriteString(map[bool]string{true: " -l ", false: " -s "}[strings.HasPrefix(name, "--")] + strings.TrimLeft(name, "-"))
			}
			switch {
			case e.words != nil:
				b.WriteString(" -xa " + printable.Quoted(strings.Join(e.words, " ")))
			case e.placeholder != "":
				b.WriteString(" " + ways[e.kind()])
			}
			b.WriteString(" -d " + printable.Quoted(e.text) + "\n")
		}
	}
	return b.String()
}
