// Package install puts Warpbook on a machine and tells what is missing there.
//
// The model: everything belongs to a Place, a folder for kernelspecs and a root
// for the program. Below the root lie src/<hash>, a copy of the module's source;
// bin, the program built from it with the record of its toolchain beside it (a
// cell can only be loaded by a program that was built from the same packages);
// and install.json, which remembers the hash and the kernelspecs, so that a
// second install has nothing to do and uninstall takes away what was written.
package install

// Step is one report of progress. Total is 0 when it is not known.
type Step struct {
	Text        string
	Done, Total int
}

// Progress receives reports while something slow goes on.
type Progress func(Step)

func (p Progress) step(text string) {
	if p != nil {
		p(Step{Text: text})
	}
}
