package measure

import (
	"bufio"
	"fmt"
	"runtime"
	"strings"

	"iwda/internal/input"
	"iwda/internal/version"
)

// Versions are those of this program.
func Versions() map[string]string {
	return map[string]string{"iwda": version.Version, "go": runtime.Version()}
}

// Machine describes what computes in a line: the processor, cores and system.
func Machine() string {
	return fmt.Sprintf("%s, %d cores, %s/%s", processor("/proc/cpuinfo"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}

// processor is the model name in a file like /proc/cpuinfo.
func processor(path string) string {
	file, err := input.Open(path)
	if err != nil {
		return "unknown processor"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
