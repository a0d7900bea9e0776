package schedule

import (
	"os"
	"strconv"
)

// threadVariables limit the threads of the libraries below libtorch, which read them
// when they are loaded.
var threadVariables = []string{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}

// Environment returns the environment of a worker of that many threads: this process's,
// but for the numbers of threads.
func Environment(threads int) []string {
	environment := os.Environ()
	for _, name := range threadVariables {
		environment = append(environment, name+"="+strconv.Itoa(threads))
	}
	return environment
}
