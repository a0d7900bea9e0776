// Package cluster writes job scripts that make the runs of an experiment on a cluster with Slurm. Each run is a
// task of its own, which calls iwrun with the experiment's file and the run's index.
package cluster

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"iwda/internal/printable"
	"iwda/internal/system"
	"iwda/internal/wholefile"
)

// Slurm says how Slurm carries out an experiment. Paths are absolute.
type Slurm struct {
	Name   string   // of the folder of the experiment's results
	Config []byte   // the text of its file
	Set    []string // assignments key=value on top of it
	// Indices are the positions in the plan, from 0 and in order, of the runs to make.
	Indices []int
	// Arguments are handed to every iwrun besides, as in --checkpoint-every=10m.
	Arguments []string
	Program   string // iwrun
	Directory string // from which relative paths of the experiment are meant
	Results   string // folder of all results

	// Options of sbatch, as on its command line, are those of every task; TableOptions are
	// those of the last job, which makes the tables.
	Options, TableOptions []string

	AtOnce       int // largest number of tasks at a time; 0: no limit
	MaxArraySize int // of the cluster, at least 1: every task's number is below it
}

// Lines that begin with #SBATCH have their own rules for blanks, quotes and #.
var (
	optionName  = regexp.MustCompile(`^--[a-z][a-z-]*$`)
	optionValue = regexp.MustCompile(`^[A-Za-z0-9_.,:;=+@%/*&|!()\[\]-]*$`)
)

// CheckOptions returns an error that names all options which are none of sbatch, or which a
// script could not hold.
func (s Slurm) CheckOptions() error {
	var mistakes []error
	all := slices.Concat(s.Options, s.TableOptions)
	for i, text := range all {
		name, value, _ := strings.Cut(text, "=")
		switch {
		case slices.Contains(all[:i], text): // of both
		case !optionName.MatchString(name):
			mistakes = append(mistakes, fmt.Errorf("%q is no option of sbatch in the form --name=value", text))
		case !optionValue.MatchString(value):
			mistakes = append(mistakes, fmt.Errorf("%s %q: a value may not hold blanks, quotes, \\, # or $", name, value))
		}
	}
	return errors.Join(mistakes...)
}

// SubmitScript submits all others.
const SubmitScript = "submit.sh"

// File is a text to be written into the folder of the scripts.
type File struct{ Name, Text string }

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").
	Funcs(template.FuncMap{"quote": printable.ShellWord, "ranges": ranges}).
	ParseFS(templateFiles, "templates/*"))

// warning is the time in seconds between the signal and the time limit: a run needs a
// few for a checkpoint, and Slurm may be a minute late.
const warning = 120

// fruitless is the number of starts in a row without a new checkpoint after which a task
// gives up.
const fruitless = 3

// script is what the templates see.
type script struct {
	Slurm
	Folder     string // of the scripts
	ConfigPath string // of the copied experiment file
	Array      block
	Arrays     []string // names of the scripts, one an array
	Warning    int
	Fruitless  int
}

// Same is the number of starts in a row with the same checkpoint that are too many.
func (s script) Same() int { return s.Fruitless + 1 }

// hash returns eight hexadecimal digits that change with the text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(text)) + ":" + text))
	return hex.EncodeToString(sum[:])[:8]
}

// Files returns the scripts and the copy of the experiment's file, whose name changes with its
// content: tasks that are queued keep theirs. folder is where all of it will
// lie. An experiment without runs to make, and options and a folder that Slurm could not read
// are errors.
func (s Slurm) Files(folder string) ([]File, error) {
	if err := s.CheckOptions(); err != nil {
		return nil, err
	}
	switch {
	case len(s.Indices) == 0:
		return nil, errors.New("there are no runs to make")
	case strings.ContainsAny(folder, `%\`):
		return nil, fmt.Errorf("%s: Slurm cannot write into a folder with %% or \\ in its path; choose another one with -o", folder)
	}
	config := fmt.Sprintf("experiment-%s.yaml", hash(string(s.Config)))
	files := []File{{Name: config, Text: string(s.Config)}}
	data := script{
		Slurm: s, Folder: folder, ConfigPath: filepath.Join(folder, config), Warning: warning, Fruitless: fruitless,
	}
	for i, block := range blocks(s.Indices, s.MaxArraySize) {
		data.Array = block
		file := File{Name: fmt.Sprintf("array-%d.sh", i+1), Text: execute("array.sh", data)}
		files = append(files, file)
		data.Arrays = append(data.Arrays, file.Name)
	}
	return append(files,
		File{Name: "tables.sh", Text: execute("tables.sh", data)},
		File{Name: SubmitScript, Text: execute(SubmitScript, data)}), nil
}

// execute panics only where a template does not fit its data, which no input changes.
func execute(name string, data any) string {
	var text bytes.Buffer
	if err := templates.ExecuteTemplate(&text, name, data); err != nil {
		panic(err)
	}
	return text.String()
}

// ranges writes ascending numbers in short, as Slurm reads them: 0-5,8.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last == i {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// block is a part of the plan whose runs are the tasks of one array.
type block struct {
	First int   // index of the run that is task 0
	Tasks []int // indices of runs, less First
}

// blocks splits ascending indices so that no task's number reaches size.
func blocks(indices []int, size int) []block {
	var all []block
	for _, index := range indices {
		first := index / size * size
		if len(all) == 0 || all[len(all)-1].First != first {
			all = append(all, block{First: first})
		}
		last := &all[len(all)-1]
		last.Tasks = append(last.Tasks, index-first)
	}
	return all
}

// Here fills in what this process and its machine say: the program, the working directory,
// the results below it, and the cluster's limit.
func (s *Slurm) Here(results string) error {
	program, programErr := system.Program()
	directory, directoryErr := os.Getwd()
	results, resultsErr := filepath.Abs(results)
	if err := errors.Join(programErr, directoryErr, resultsErr); err != nil {
		return fmt.Errorf("cannot tell the tasks where to work: %w", err)
	}
	s.Program, s.Directory, s.Results, s.MaxArraySize = cmp.Or(os.Getenv(launcherVariable), program), directory, results, maxArraySize()
	return nil
}

// launcherVariable names the command of the Python package that finds libtorch before it becomes this program, and by
// which other machines start it.
const launcherVariable = "IWDA_LAUNCHER"

// Write writes the files of the jobs into the folder slurm of the experiment's results, in
// place of former ones, and returns the path of the script that submits the others.
func (s Slurm) Write() (string, error) {
	folder := filepath.Join(s.Results, s.Name, "slurm")
	files, err := s.Files(folder)
	if err != nil {
		return "", err
	}
	var disk *wholefile.Disk
	if err := disk.MakeFolder(folder); err != nil {
		return "", fmt.Errorf("cannot create the folder of the scripts: %w", err)
	}
	former, _ := filepath.Glob(filepath.Join(folder, "array-*.sh"))
	for _, path := range former {
		if err := os.Remove(path); err != nil {
			return "", fmt.Errorf("cannot remove a former script: %w", err)
		}
	}
	for _, file := range files {
		if err := disk.WriteText(filepath.Join(folder, file.Name), file.Text); err != nil {
			return "", err
		}
	}
	script := filepath.Join(folder, SubmitScript)
	info, err := os.Stat(script)
	if err != nil {
		return "", err
	}
	mayRun := (info.Mode() & 0o444) >> 2 // those who may read it
	return script, os.Chmod(script, info.Mode()|mayRun)
}

// usualArraySize is Slurm's own setting where a cluster has none.
const usualArraySize = 1001

var arraySizeLine = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([1-9][0-9]*)`)

// maxArraySize asks the cluster; away from one it assumes the usual size.
func maxArraySize() int {
	text, _ := exec.Command("scontrol", "show", "config").Output()
	if match := arraySizeLine.FindSubmatch(text); match != nil {
		if size, err := strconv.Atoi(string(match[1])); err == nil {
			return size
		}
	}
	return usualArraySize
}
