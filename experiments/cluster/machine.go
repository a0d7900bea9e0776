package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"iwda/internal/system"
	"iwda/internal/wholefile"
)

// Here fills in what this process and its machine say: the program, the working directory,
// the results below it, the values of the experiment's variables and of IWDA_DATA, and the
// cluster's limit.
func (s *Slurm) Here(results string) error {
	program, programErr := system.Program()
	directory, directoryErr := os.Getwd()
	results, resultsErr := filepath.Abs(results)
	if err := errors.Join(programErr, directoryErr, resultsErr); err != nil {
		return fmt.Errorf("cannot tell the tasks where to work: %w", err)
	}
	s.Program, s.Directory, s.Results, s.MaxArraySize = cmp.Or(os.Getenv(launcherVariable), program), directory, results, maxArraySize()
	s.Environment = map[string]string{}
	for _, name := range append(s.Variables(), dataVariable) {
		if value, set := os.LookupEnv(name); set {
			s.Environment[name] = value
		}
	}
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
		write := disk.WriteText
		if file.Private {
			write = disk.WritePrivate
		}
		if err := write(filepath.Join(folder, file.Name), file.Text); err != nil {
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
