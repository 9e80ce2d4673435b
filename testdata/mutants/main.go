// Command mutants changes the program in small ways, one at a time, and runs the tests that should notice the change.
// Such a changed program is called a mutant. Conditions become true or false, bounds and signs are reversed, results
// change, statements are removed. The command prints the changes that no test notices.
//
//	go run ./testdata/mutants [-sample N] [-survivors] [-show PLACE] [-jobs N] [core/sas …]
//
// Each package is compiled once, with all its mutants as switches. The results are cached as long as the package and
// its tests do not change, so an interrupted run can be resumed.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// guards lists the packages that decide about access. If a mutant of such a package survives the tests, the command
// fails. Survivors in other packages are only printed.
var guards = []string{"core/sas", "core/sharedkey", "core/settings"}

// suites maps each package to the packages whose tests cover it, beginning with the fastest tests.
var suites = map[string][]string{
	"core/sas":       {"core/sas", "core/protocol"},
	"core/sharedkey": {"core/sharedkey", "core/protocol"},
	"core/settings":  {"core/settings", "core/protocol"},
	"core/odata":     {"core/odata", "core/protocol"},
	"core/protocol":  {"core/protocol", "core/changefeed"},
	"core/table":     {"core/table", "core/protocol", "testdata/memstore"},
	"core/buckets":   {"core/buckets", "adapters/store/workerskv"},
}

func main() {
	sample := flag.Int("sample", 0, "how many mutants of each package are played, drawn with a fixed seed; 0 for all")
	jobs := flag.Int("jobs", runtime.NumCPU(), "how many are played at once")
	cache := flag.String("cache", filepath.Join(cmpOr(os.Getenv("EDGETABLE_CACHE"), ".cache"), "mutants"), "where results are kept")
	again := flag.Bool("survivors", false, "after tests were added: play what survived before, and take as killed what was")
	show := flag.String("show", "", "a place such as core/sas/verify.go:63: play its mutants alone, and print what tests say of each")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		for name := range suites {
			packages = append(packages, name)
		}
		slices.Sort(packages)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *show != "" {
		if err := showAt(ctx, *show, *cache); err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		return
	}
	left := 0
	for _, name := range packages {
		n, err := play(ctx, name, *cache, *sample, *jobs, *again)
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", name, err)
			os.Exit(2)
		}
		if slices.Contains(guards, name) {
			left += n
		}
	}
	if left > 0 {
		fmt.Printf("%d mutants of %s survive. Add the test that notices, or a line in testdata/mutants/explained.txt that says why none can.\n", left, strings.Join(guards, ", "))
		os.Exit(1)
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// play runs the tests with each mutant of a package (a small change of the code). A mutant survives if no test fails.
// play returns the number of surviving mutants that readExplained does not list.
func play(ctx context.Context, name, cache string, sample, jobs int, again bool) (left int, err error) {
	tests := suites[name]
	if tests == nil {
		return 0, fmt.Errorf("not one of the packages: %s", strings.Join(known(), ", "))
	}
	explained, err := readExplained("testdata/mutants/explained.txt", name)
	if err != nil {
		return 0, err
	}
	p, err := build(ctx, name, tests, cache)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(p.dir)
	all := p.mutants
	if sample > 0 && sample < len(all) {
		r := rand.New(rand.NewPCG(1, uint64(len(all))))
		all = slices.Clone(all)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:sample]
		slices.SortFunc(all, func(a, b mutant) int { return a.number - b.number })
	}
	base := filepath.Join(cache, strings.ReplaceAll(name, "/", "-")+"-"+p.source)
	known, err := openResults(base + "-" + p.sum)
	if err != nil {
		return 0, err
	}
	if again {
		if err := known.killedBefore(base); err != nil {
			return 0, err
		}
	}
	defer known.Close()
	begin := time.Now()
	fates := p.playAll(ctx, all, known, jobs)
	if ctx.Err() != nil {
		return 0, fmt.Errorf("%d of %d mutants are played; the next run continues", len(known.fates), len(all))
	}
	counts := map[string]int{}
	used := map[string]bool{}
	for i, m := range all {
		fate := fates[i]
		if why := explained[m.key()]; why != "" && fate != killed {
			used[m.key()] = true
			fate = "explained"
		}
		if fate == "" {
			return 0, fmt.Errorf("%s:%d: the system ended the tests; run it again", m.file, m.line)
		}
		if counts[fate]++; fate == survived || fate == unreached {
			left++
			fmt.Printf("%s:%d: %s %s (%s)\n", m.file, m.line, m.source, m.what, fate)
		}
	}
	fmt.Printf("%s: %d of %d mutants: %d killed, %d explained, %d survive, of which no test reaches %d; %v of processors, %v\n", name, len(all), len(p.mutants),
		counts[killed], counts["explained"], left, counts[unreached], p.spent().Round(time.Second), time.Since(begin).Round(time.Second))
	for key := range explained {
		if sample == 0 && !used[key] {
			left++
			fmt.Printf("testdata/mutants/explained.txt has a line that explains no survivor: %s\n", strings.ReplaceAll(key, "\t", " | "))
		}
	}
	return left, nil
}

// showAt runs the tests with the mutants of one line, and prints their output.
func showAt(ctx context.Context, place, cache string) error {
	name := filepath.Dir(place)
	if suites[name] == nil {
		return fmt.Errorf("%s is in none of the packages: %s", place, strings.Join(known(), ", "))
	}
	p, err := build(ctx, name, suites[name], cache)
	if err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	for _, m := range p.mutants {
		if fmt.Sprintf("%s:%d", m.file, m.line) == place {
			fate, said := p.fate(ctx, m.number)
			fmt.Printf("%s: %s %s (%s)\n%s", place, m.source, m.what, fate, said)
		}
	}
	return nil
}

func known() (names []string) {
	for name := range suites {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The results of running the tests with a mutant.
const (
	killed    = "killed"
	survived  = "survives"
	unreached = "no test reaches it"
)

// playAll runs the tests with each mutant, and returns the result of each mutant.
func (p *program) playAll(ctx context.Context, all []mutant, known *results, jobs int) []string {
	fates := make([]string, len(all))
	next := make(chan int)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := range next {
				n := all[i].number
				fate := known.of(n)
				if fate == "" {
					if fate, _ = p.fate(ctx, n); ctx.Err() == nil && fate != "" {
						known.note(n, fate)
					}
				}
				fates[i] = fate
			}
		})
	}
	for i := range all {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return fates
}

// readExplained reads the list of those mutants (small changes of a package) that no test can notice. A line has four
// columns, separated by " | ": the file, the original code, the change and the reason.
func readExplained(path, name string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 4 || f[3] == "" {
			return nil, fmt.Errorf("%s: a line must have a file, a source, a change and a reason: %s", path, line)
		}
		if filepath.Dir(f[0]) == name {
			list[strings.Join(f[:3], "\t")] = f[3]
		}
	}
	return list, nil
}
