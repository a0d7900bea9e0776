// Package engine is iwrun-torch, the program that loads libtorch, as iwrun sees it: where it is, how it is started,
// what it is asked, and what its answers and its end mean. iwrun itself loads no library.
//
// iwrun-torch is started with the number of the protocol and a command:
//
//	iwrun-torch PROTOCOL worker FOLDER   makes a run; package schedule starts it
//	iwrun-torch PROTOCOL serve           answers questions
//
// A question and its answer are each a line of JSON, and behind it as many float32 as the line says, in the machine's
// order of bytes. [Serve] reads the ones and writes the others. A program of another protocol answers with a failure at once.
package engine

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/system"
)

// Protocol is the number of what both programs say to each other. A change that one of them could get wrong has a
// higher one.
const Protocol = 1

// Variable is that of the environment which names iwrun-torch. Maker names the command which makes it where there is
// none, as a list of words in JSON: it prints [Made] or a [Failure] as a line of JSON, and on standard error what it is
// at, and stops at the end of its standard input.
const (
	Variable = "IWDA_TORCH"
	Maker    = "IWDA_MAKE_TORCH"
)

// Made are the words that start an iwrun-torch.
type Made struct{ Words []string }

const program = "iwrun-torch"

// ErrMissing is wrapped where there is no iwrun-torch.
var ErrMissing = errors.New(program + ", the part of iwda with libtorch")

// find returns the words that start iwrun-torch: one that is there, or one that is made.
func (p *Process) find(ctx context.Context) ([]string, error) {
	words, err := lying()
	if maker := os.Getenv(Maker); err != nil && maker != "" && os.Getenv(Variable) == "" {
		return p.make(ctx, maker)
	}
	return words, err
}

// There tells whether iwrun-torch need not be made first. The process may be nil.
func (p *Process) There() bool {
	_, err := lying()
	return p != nil && err == nil
}

// lying returns the words that start the iwrun-torch of the variable, or the one beside this program.
func lying() ([]string, error) {
	if named := os.Getenv(Variable); named != "" {
		if _, err := exec.LookPath(named); err != nil {
			return nil, fmt.Errorf("%s names %s, which is no program: %v", Variable, named, err)
		}
		return []string{named}, nil
	}
	this, err := system.Program()
	if err == nil {
		this, err = filepath.EvalSymlinks(this)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find this program, beside which %s lies: %w", program, err)
	}
	folder := filepath.Dir(this)
	for _, path := range []string{filepath.Join(folder, program), filepath.Join(folder, "bin", program)} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("it is neither in %s nor named by %s; in a checkout, make build makes it", folder, Variable)
}

// make has the maker make iwrun-torch.
func (p *Process) make(ctx context.Context, maker string) ([]string, error) {
	var words []string
	if err := json.Unmarshal([]byte(maker), &words); err != nil || len(words) == 0 {
		return nil, fmt.Errorf("%s is %.200q; want the words of a command, as a list in JSON", Maker, maker)
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stderr = p.Log
	in, err := command.StdinPipe() // which ends with this process
	if err != nil {
		return nil, err
	}
	command.Cancel = in.Close
	said, err := command.Output()
	var made struct {
		Made
		Failure
	}
	switch noLine := json.Unmarshal(said, &made); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case noLine == nil && made.Reason != "":
		return nil, errors.New(made.Reason)
	case noLine == nil && len(made.Words) > 0:
		return made.Words, nil
	}
	return nil, fmt.Errorf("the command of %s, %q, made none: %v", Maker, words, err)
}

// Command returns the words that start iwrun-torch with such a command. The error says what is needed it for, as in
// "training".
func (p *Process) Command(what string, words ...string) ([]string, error) {
	p.asking.Lock()
	defer p.asking.Unlock()
	return p.start(context.Background(), what, words...)
}

// start returns what Command does. What is looked for is looked for once.
func (p *Process) start(ctx context.Context, what string, words ...string) ([]string, error) {
	if p.words == nil && p.missing == nil {
		p.words, p.missing = p.find(ctx)
	}
	if p.missing != nil {
		return nil, fmt.Errorf("%s needs %w: %v", what, ErrMissing, p.missing)
	}
	return slices.Concat(p.words, []string{strconv.Itoa(Protocol)}, words), nil
}

// CheckProtocol returns an error unless a program that was started with this word speaks the protocol of this one.
func CheckProtocol(word string) error {
	if word == strconv.Itoa(Protocol) {
		return nil
	}
	return fmt.Errorf("iwrun speaks protocol %.20q and this %s protocol %d: they are of two builds; make build makes both, and %s names another %s", word, program, Protocol, Variable, program)
}

// Failure is how iwrun-torch says why it failed, as a line of JSON.
type Failure struct {
	Event  string `json:"event"` // "failed", as a worker's
	Reason string `json:"reason"`
	// Wrong is set where the input cannot be read as asked, Stopped where a signal asked to stop.
	Wrong   bool `json:"wrong,omitempty"`
	Stopped bool `json:"stopped,omitempty"`
}

// Failed is the kind of failures.
const Failed = "failed"

// NewFailure describes an error.
func NewFailure(err error) Failure {
	wrong := errors.Is(err, input.ErrWrong) || errors.Is(err, fs.ErrNotExist)
	return Failure{Failed, err.Error(), wrong, errors.Is(err, context.Canceled)}
}

func (f Failure) error() error {
	switch err := errors.New(f.Reason); {
	case f.Stopped:
		return context.Canceled
	case f.Wrong:
		return input.Wrong(err)
	default:
		return err
	}
}

// line is what stands before the numbers of a question or an answer.
type line struct {
	Question string          `json:"question,omitempty"`
	With     json.RawMessage `json:"with,omitempty"` // of a question, or what the answer is
	Values   int             `json:"values,omitempty"`
	*Failure
}

// numbered has numbers, which follow its line.
type numbered interface{ numbers() *[]float32 }

// Process is iwrun-torch, which starts when it is first asked. Several goroutines may ask; they wait for each
// other.
type Process struct {
	// Log takes what libtorch says beside the answers, and lines about the work; nil discards it.
	Log io.Writer

	asking  sync.Mutex
	words   []string // that start it
	missing error    // why there are none
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	broken  error // after which there are no answers
}

// serve starts the program for a question, once.
func (p *Process) serve(ctx context.Context, question string) error {
	if p.command != nil || p.broken != nil {
		return p.broken
	}
	words, err := p.start(ctx, question, "serve")
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if p.Log == nil {
		p.Log = io.Discard
	}
	command := exec.Command(words[0], words[1:]...)
	system.Apart(command) // Ctrl-C reaches iwrun alone, which passes it on
	command.Stderr = p.Log
	in, inErr := command.StdinPipe()
	out, outErr := command.StdoutPipe()
	if err := cmp.Or(inErr, outErr, command.Start()); err != nil {
		return fmt.Errorf("cannot start %s: %w", program, err)
	}
	p.command, p.in, p.out = command, in, bufio.NewReader(out)
	return nil
}

// Ask asks a question, with arguments, and reads the answer into a pointer. If the context is cancelled, iwrun-torch is
// asked to stop, and the error is the context's.
func (p *Process) Ask(ctx context.Context, question string, with, answer any) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	if err := cmp.Or(ctx.Err(), p.serve(ctx, question)); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { system.Stop(p.command.Process, p.in) })()
	write(p.in, line{Question: question}, with) // one that has ended has said why before
	said, err := read(p.out, p.Log, func(line) any { return answer })
	if err != nil {
		p.in.Close()
		p.command.Wait()
		p.broken = fmt.Errorf("%s, which %s needs, %s", program, question, Ending(p.command.ProcessState))
		err = p.broken
	} else if said.Failure != nil {
		err = said.Failure.error()
	}
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// Close ends the program.
func (p *Process) Close() {
	p.asking.Lock()
	defer p.asking.Unlock()
	if p.command != nil && p.broken == nil {
		p.in.Close()
		p.command.Wait()
		p.broken = errors.New(program + " was closed")
	}
}

// Ending says how a process ended, behind its name.
func Ending(state *os.ProcessState) string {
	switch signal, died := DeathSignal(state); {
	case died && signal == syscall.SIGKILL:
		return "was killed (signal 9), as the system does when memory runs out"
	case died:
		return fmt.Sprintf("died of signal %d (%v)", signal, signal)
	}
	return fmt.Sprintf("ended with exit status %d", state.ExitCode())
}

// DeathSignal returns the signal that ended the process, if one did.
func DeathSignal(state *os.ProcessState) (syscall.Signal, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	return status.Signal(), ok && status.Signaled()
}

// Answer answers a question.
type Answer struct {
	with   func() any // a new value for the arguments
	answer func(ctx context.Context, with any) (any, error)
}

// NewAnswer makes an answer of a function of the arguments.
func NewAnswer[With, Said any](answer func(context.Context, *With) (Said, error)) Answer {
	return Answer{func() any { return new(With) }, func(ctx context.Context, with any) (any, error) {
		said, err := answer(ctx, with.(*With))
		return &said, err
	}}
}

// Serve answers questions until their end, of which gone is told at once, whatever is computed then.
func Serve(ctx context.Context, in io.Reader, out io.Writer, answers map[string]Answer, gone func()) error {
	type question struct {
		name string
		with any
	}
	questions := make(chan question)
	go func() {
		defer close(questions)
		for from := bufio.NewReader(in); ; {
			var with any
			asked, err := read(from, io.Discard, func(l line) any {
				if with = new(any); answers[l.Question].with != nil {
					with = answers[l.Question].with()
				}
				return with
			})
			if err != nil {
				gone()
				return
			}
			questions <- question{asked.Question, with}
		}
	}()
	for q := range questions {
		err := fmt.Errorf("no question %q", q.name)
		var said any
		if of, known := answers[q.name]; known {
			said, err = of.answer(ctx, q.with)
		}
		var l line
		if err != nil {
			failure := NewFailure(err)
			l.Failure, said = &failure, nil
		}
		if err := write(out, l, said); err != nil {
			return err
		}
	}
	return nil
}

// write writes a line with what it is about, and the numbers of that.
func write(to io.Writer, l line, with any) (err error) {
	var values []float32
	if of, is := with.(numbered); is {
		values = *of.numbers()
	}
	l.Values = len(values)
	if l.With, err = json.Marshal(with); err != nil {
		return err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err = to.Write(append(text, '\n')); err == nil {
		_, err = to.Write(convert.Bytes(values))
	}
	return err
}

// read reads the next line, and what it is about into the pointer that into returns for it; others takes lines that are
// none, which a library may have printed.
func read(from *bufio.Reader, others io.Writer, into func(line) any) (l line, err error) {
	for {
		text, err := from.ReadBytes('\n')
		if err != nil {
			others.Write(text)
			return line{}, err
		}
		if l = (line{}); json.Unmarshal(text, &l) == nil && (l.With != nil || l.Failure != nil) {
			break
		}
		others.Write(text)
	}
	values := make([]float32, l.Values)
	if _, err := io.ReadFull(from, convert.Bytes(values)); err != nil || l.Failure != nil {
		return l, err
	}
	to := into(l)
	if of, is := to.(numbered); is {
		*of.numbers() = values
	}
	return l, json.Unmarshal(l.With, to)
}

// The questions that iwrun-torch answers, each what takes libtorch. Their arguments and answers are:
const (
	Devices  = "training"           // string: names, as --device takes them; []string: of the devices
	GetFacts = "iwrun doctor"       // nothing; Facts
	Open     = "opening a network"  // Models; int: a number by which Rows name them
	Apply    = "applying a network" // Rows; Outputs: the logits by each of the members, one after the other
	Measure  = "measuring steps"    // []Work, each with a configuration; Costs
)

// Facts are what iwrun-torch knows of itself and its machine.
type Facts struct {
	Torch       string   // libtorch's version
	CUDADevices []string // the models
	OneDNN      bool     // multiplies matrices of float32
}

// Models are models whose networks are made.
type Models struct {
	Folders []string
	Modules []string // the SHA-256 of the module of each that may run, "" for none
	Device  string
	Threads int
}

// Rows are rows for some members of opened models.
type Rows struct {
	Of         int
	Members    []int
	Shape      []int     // of a row
	Normalised bool      // as the networks want them
	Values     []float32 `json:"-"` // row after row
}

func (r *Rows) numbers() *[]float32 { return &r.Values }

// Outputs are what networks make of rows, row after row.
type Outputs struct {
	Values []float32 `json:"-"`
}

func (o *Outputs) numbers() *[]float32 { return &o.Values }

// Costs is how long runs take one after the other on one device.
type Costs struct {
	Runs    int // of which it is known
	Time    time.Duration
	Unknown string // why it is not known of the others; "" if there are none
}

// Work is how a run is made. A worker gets it as a word of its command line.
type Work struct {
	Device      string
	Threads     int
	Checkpoints time.Duration // between two
	Config      string        // as YAML
}
