// Command published repeats published experiments on label shift, on the real MNIST, and
// prints what comes out beside the published numbers. A protocol file says which experiment
// and with what settings; see labelshift-mnist.yaml.
//
//	go run ./research/published -c FILE [-o FOLDER] [-digits FOLDER] [-j N] [-format md|csv|json]
//
// The networks' logits are kept in logits/ in the experiment's folder of results, and those
// that are there are not computed again.
//
// Everything random follows from seeds of its own: networks, and draws of held-out and
// target rows. The same file gives the same numbers for any number of goroutines on one
// kind of processor.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"iwda/experiments/report/sheet"
	"iwda/torch"
)

func main() {
	data := cmp.Or(os.Getenv("IWDA_DATA"), "data")
	o := options{say: log.New(os.Stderr, "", 0).Printf}
	path := flag.String("c", "", "protocol `FILE`")
	flag.StringVar(&o.results, "o", "results", "`FOLDER` of all results")
	flag.StringVar(&o.digits, "digits", filepath.Join(data, "digits"), "`FOLDER` of MNIST's files")
	flag.IntVar(&o.parallel, "j", 0, "number of networks trained, or draws made, at a time; 0: one a core")
	format := flag.String("format", sheet.Markdown, strings.Join(sheet.Formats(), ", "))
	flag.Parse()
	torch.TuneAllocator()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *path, *format, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "published:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path, format string, o options, out io.Writer) error {
	if path == "" {
		return errors.New("which protocol? name its file with -c FILE")
	}
	if !slices.Contains(sheet.Formats(), format) {
		return fmt.Errorf("-format %s: choose from %s", format, strings.Join(sheet.Formats(), ", "))
	}
	p, err := load(path)
	if err != nil {
		return err
	}
	table, err := repeat(ctx, p, o)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; the same command goes on with the networks that are trained")
	}
	if err != nil {
		return err
	}
	return table.Write(out, format)
}

// options say where an experiment runs.
type options struct {
	digits   string // the folder of MNIST's files
	results  string // the folder of all results
	parallel int    // networks trained, or draws made, at a time; 0: one a core
	// say shows a line of progress; any goroutine may call it.
	say func(format string, values ...any)
}

// repeat makes the experiment and returns its table.
func repeat(ctx context.Context, p protocol, o options) (sheet.Sheet, error) {
	d, err := loadDigits(o.digits, filepath.Join(o.results, p.name(), "logits"), o.say)
	if err != nil {
		return sheet.Sheet{}, err
	}
	return p.run(ctx, d, o.parallel)
}
